"""Triton kernels of PageDesk, their launchers and their torch twins. Imports torch and triton only."""

"""The parts of `launch.py`: make `.venv` whole, then hand over to it.

Standard library only; knows nothing of PageDesk but where it is.
"""

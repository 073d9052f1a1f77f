"""Who computes what next, and which block is whose: plain Python, no tensors."""

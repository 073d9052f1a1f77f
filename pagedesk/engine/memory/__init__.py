"""The budget and the tensors that hold the cache."""

"""One interface for what the decoder computes, and the houses that implement it."""

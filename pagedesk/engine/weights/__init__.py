"""Files of weights, and the forms they take in memory."""

"""`pagedesk bench`: what the engine does in a second, and what its cache saves, measured without a window."""

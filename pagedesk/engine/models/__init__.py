"""One decoder, described by data."""

"""The panel that shows where memory is."""

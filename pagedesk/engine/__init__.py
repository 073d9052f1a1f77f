"""The paged inference engine. Knows no Qt; importing this package alone imports no torch."""

"""The paged inference engine. Knows no Qt; importing this package alone imports no torch."""

import os

# Torch's own rotary path would compile C on the user's machine at the first step; it has to be told before its import.
os.environ.setdefault("TORCH_DISABLE_NATIVE_JIT", "1")

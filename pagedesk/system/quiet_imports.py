"""Heavy imports on one thread while another one paints: what would hold Python's lock for long is kept out of them.

Two things do: mapping torch's shared libraries (0.3 s), and full garbage collections among the many objects of modules
that are being made (0.1 s each). Knows where torch's libraries are, and imports nothing itself.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


@contextmanager
def quiet_imports() -> Iterator[None]:
    """Import torch and what is built on it inside; what is alive at the end is spared by later collections."""
    _map_torch_libraries()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _map_torch_libraries() -> None:
    """Let the system's loader map them: a call through ctypes holds no lock, an import does.

    If that fails, the import will say why. On Windows torch's own import calls the loader through ctypes.
    """
    spec = find_spec("torch")
    if sys.platform != "linux" or spec is None or spec.origin is None:
        return
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.argtypes, dlopen.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    dlopen(os.fsencode(Path(spec.origin).parent / "lib" / "libtorch_python.so"), os.RTLD_LAZY)

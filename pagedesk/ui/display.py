"""Whether a window can be opened here, asked before Qt is imported: Qt would end the process with its own error.

Stdlib only.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, MutableMapping

# The shared libraries that Qt links and does not bring, and the Debian packages that hold them.
_QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
}
_X_LIBRARIES = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}


def display_problem(environment: MutableMapping[str, str] = os.environ) -> str | None:
    """Why no window can be opened, with a next step; None if one can.

    Chooses Wayland in `environment` where the X server or the libraries for it are missing.
    """
    if sys.platform != "linux":
        return None
    if missing := _missing(_QT_LIBRARIES):
        return _missing_text(missing, _QT_LIBRARIES)
    if environment.get("QT_QPA_PLATFORM"):
        return None
    problem = _x_problem(environment)
    if problem is not None and environment.get("WAYLAND_DISPLAY"):
        environment["QT_QPA_PLATFORM"] = "wayland"
        return None
    return problem


def _x_problem(environment: MutableMapping[str, str]) -> str | None:
    display = environment.get("DISPLAY")
    if not display:
        return "There is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set."
    if missing := _missing(_X_LIBRARIES):
        return _missing_text(missing, _X_LIBRARIES)
    if not _x_server_answers(display):
        return f"The display {display} does not answer: check DISPLAY, and that you may use it."
    return None


def _missing(names: Iterable[str]) -> list[str]:
    """Those that the loader does not find."""
    return [name for name in names if not _loads(name)]


def _missing_text(missing: list[str], packages: dict[str, str]) -> str:
    wanted = " ".join(packages[name] for name in missing)
    return (
        f"Qt needs system libraries that are not installed: {', '.join(missing)}. On Debian or Ubuntu: "
        f"apt install {wanted}; on Fedora: dnf install libglvnd-egl libxkbcommon-x11 xcb-util-cursor xcb-util-wm "
        "xcb-util-image xcb-util-keysyms xcb-util-renderutil; on Arch: pacman -S libglvnd libxkbcommon-x11 "
        "xcb-util-cursor xcb-util-wm xcb-util-image xcb-util-keysyms xcb-util-renderutil."
    )


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _x_server_answers(display: str) -> bool:
    """Whether the X server takes a connection, asked of libxcb as Qt will ask."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(display.encode(), None)
    has_error = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not has_error

"""What the Linux system must have for Qt and for the tests, and the package managers that bring it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from launcher.console import say


@dataclass(frozen=True, slots=True)
class Need:
    """A library that is loaded, a program that is started or a font file, and the packages that have it."""

    name: str
    apt: str
    dnf: str
    pacman: str


LIBRARIES = (
    Need("libEGL.so.1", "libegl1", "libglvnd-egl", "libglvnd"),
    Need("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd"),
    Need("libX11.so.6", "libx11-6", "libX11", "libx11"),
    Need("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb", "libx11"),
    Need("libdbus-1.so.3", "libdbus-1-3", "dbus-libs", "dbus"),
    Need("libfontconfig.so.1", "libfontconfig1", "fontconfig", "fontconfig"),
    Need("libfreetype.so.6", "libfreetype6", "freetype", "freetype2"),
    Need("libbrotlidec.so.1", "libbrotli1", "libbrotli", "brotli"),
    Need("libgssapi_krb5.so.2", "libgssapi-krb5-2", "krb5-libs", "krb5"),
    Need("libglib-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    Need("libgthread-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    Need("libxcb.so.1", "libxcb1", "libxcb", "libxcb"),
    Need("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    Need("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    Need("libxcb-image.so.0", "libxcb-image0", "xcb-util-image", "xcb-util-image"),
    Need("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    Need("libxcb-randr.so.0", "libxcb-randr0", "libxcb", "libxcb"),
    Need("libxcb-render.so.0", "libxcb-render0", "libxcb", "libxcb"),
    Need("libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil"),
    Need("libxcb-shape.so.0", "libxcb-shape0", "libxcb", "libxcb"),
    Need("libxcb-shm.so.0", "libxcb-shm0", "libxcb", "libxcb"),
    Need("libxcb-sync.so.1", "libxcb-sync1", "libxcb", "libxcb"),
    Need("libxcb-util.so.1", "libxcb-util1", "xcb-util", "xcb-util"),
    Need("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb", "libxcb"),
    Need("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb", "libxcb"),
    Need("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    Need("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
)
"""What Qt's core, network, widgets and X11 plugin are linked against (`readelf -d`), without what every system has."""

PROGRAMS = (
    Need("Xvfb", "xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb"),
    Need("xdotool", "xdotool", "xdotool", "xdotool"),
    Need("import", "imagemagick", "ImageMagick", "imagemagick"),
    Need("git", "git", "git", "git"),
)
"""For the tests: an X server without a screen, a hand for keyboard and mouse, a camera."""

FONTS = (
    Need("NotoSans-Regular.ttf", "fonts-noto-core", "google-noto-sans-fonts", "noto-fonts"),
    Need("NotoSansMono-Regular.ttf", "fonts-noto-mono", "google-noto-sans-mono-fonts", "noto-fonts"),
    Need("NotoSansCJK-Regular.ttc", "fonts-noto-cjk", "google-noto-sans-cjk-fonts", "noto-fonts-cjk"),
)
"""For the pictures that the tests take: the theme's families for Linux, and Japanese."""

_INSTALL = {
    "apt": "apt-get install --no-install-recommends",
    "dnf": "dnf install",
    "pacman": "pacman -S --needed",
}


def ensure_system_packages(*, for_tests: bool) -> bool:
    """Install what the system lacks if we are root on Debian or a child of it; else say how.

    Returns:
        Whether the system has everything now. PageDesk starts in either case: without Qt it chats in the terminal.
    """
    if not sys.platform.startswith("linux"):
        return True
    lacking = missing(for_tests=for_tests)
    if lacking and is_root_with_apt():
        say(f"  installing what the system lacks with apt: {' '.join(packages(lacking, 'apt'))}")
        install_as_root(packages(lacking, "apt"))
        lacking = missing(for_tests=for_tests)
    if lacking:
        say(advice(lacking, find_manager()))
    return not lacking


def missing(*, for_tests: bool) -> list[Need]:
    """What this system lacks."""
    lacking = [need for need in LIBRARIES if not _loads(need.name)]
    if for_tests:
        lacking += [need for need in PROGRAMS if not shutil.which(need.name)]
        lacking += [need for need in FONTS if not next(Path("/usr/share/fonts").rglob(need.name), None)]
    return lacking


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def packages(needs: Iterable[Need], manager: str) -> list[str]:
    """The names of the packages that have what is needed, each once."""
    return list(dict.fromkeys(getattr(need, manager) for need in needs))


def find_manager() -> str | None:
    """The package manager of this system: "apt", "dnf", "pacman" or None."""
    programs = {"apt": "apt-get", "dnf": "dnf", "pacman": "pacman"}
    return next((manager for manager, program in programs.items() if shutil.which(program)), None)


def advice(needs: Sequence[Need], manager: str | None) -> str:
    """What is missing and the line that installs it."""
    lack = f"This system lacks what PageDesk needs: {', '.join(need.name for need in needs)}."
    if manager is None:
        return f"{lack} Install it with the system's package manager."
    return f"{lack} Install it:\n    {install_line(manager, packages(needs, manager))}"


def install_line(manager: str, names: Sequence[str]) -> str:
    """The line for a person to type."""
    return f"sudo {_INSTALL[manager]} {' '.join(names)}"


def is_root_with_apt() -> bool:
    """Whether we may install packages ourselves."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install_as_root(names: Sequence[str]) -> bool:
    """Install packages with apt, without a question. Returns whether it worked; if not, one sentence was said."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *names]
    # Lists that are old but hold the packages are good enough: a failing update alone is no reason to stop.
    subprocess.run(["apt-get", "update"], env=environment, capture_output=True, check=False)
    done = subprocess.run(install, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        say(f"  apt could not install them: {_reason(done.stderr or done.stdout)}")
    return done.returncode == 0


def _reason(output: str) -> str:
    """The first error of apt, without its mark."""
    lines = output.strip().splitlines() or ["it said nothing"]
    errors = [line.removeprefix("E: ") for line in lines if line.startswith("E: ") and "write log" not in line]
    return errors[0] if errors else lines[-1]

from __future__ import annotations

import pytest

from launcher.system_packages import LIBRARIES, Need, advice, packages

CURSOR = Need("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor")


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("apt", "sudo apt-get install --no-install-recommends libxcb-cursor0"),
        ("dnf", "sudo dnf install xcb-util-cursor"),
        ("pacman", "sudo pacman -S --needed xcb-util-cursor"),
    ],
)
def test_what_is_missing_is_said_with_the_line_that_installs_it(manager: str, line: str) -> None:
    text = advice([CURSOR], manager)

    assert "libxcb-cursor.so.0" in text
    assert text.splitlines()[-1].strip() == line


def test_without_a_known_package_manager_the_libraries_are_named() -> None:
    assert "libxcb-cursor.so.0" in advice([CURSOR], None)


@pytest.mark.parametrize("manager", ["apt", "dnf", "pacman"])
def test_a_package_with_two_libraries_is_installed_once(manager: str) -> None:
    names = packages(LIBRARIES, manager)

    assert len(names) == len(set(names))
    assert all(names)

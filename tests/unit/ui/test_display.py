import sys

import pytest

from pagedesk.ui import display
from pagedesk.ui.display import display_problem

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")


@pytest.fixture
def loads(monkeypatch):
    """All libraries are there, except those the test names."""

    def without(*names: str) -> None:
        monkeypatch.setattr(display, "_loads", lambda name: name not in names)

    without()
    return without


@pytest.mark.usefixtures("loads")
def test_a_machine_without_a_display_says_so():
    assert "DISPLAY" in (display_problem({}) or "")


@pytest.mark.usefixtures("loads")
def test_a_platform_that_was_chosen_is_trusted():
    assert display_problem({"QT_QPA_PLATFORM": "offscreen"}) is None


def test_a_missing_library_is_named_with_its_package(loads):
    loads("libEGL.so.1")
    problem = display_problem({"QT_QPA_PLATFORM": "offscreen"}) or ""
    assert "libEGL.so.1" in problem
    assert "apt install libegl1;" in problem


def test_wayland_takes_over_where_the_libraries_of_x_are_missing(loads):
    loads("libxcb-cursor.so.0")
    environment = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
    assert display_problem(environment) is None
    assert environment["QT_QPA_PLATFORM"] == "wayland"


@pytest.mark.usefixtures("loads")
def test_a_display_that_does_not_answer_is_named():
    assert ":4711" in (display_problem({"DISPLAY": ":4711"}) or "")

"""What must hold of the Qt binding that is installed, before anything else is worth testing."""

import sys

from PySide6.QtCore import QObject


def test_a_call_that_returns_nothing_takes_no_reference_to_none():
    """PySide6 6.12.0 does on Python 3.11, where None dies of it after some thousand calls, and the process with it."""
    thing = QObject()
    before = sys.getrefcount(None)
    for _ in range(500):
        thing.setObjectName("name")
    assert sys.getrefcount(None) > before - 250

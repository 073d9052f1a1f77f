"""Signals that end the program politely."""

import signal
import sys

import pytest

from pagedesk.ui.quit_signals import QuitSignals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no such signals")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_polite_signal_closes_the_window_once(qtbot, name):
    asked = []
    # Whoever runs the tests may ignore it, as nohup does.
    old = signal.signal(signal.Signals[name], signal.default_int_handler)
    signals = QuitSignals(lambda: asked.append(name))
    try:
        signal.raise_signal(signal.Signals[name])
        signal.raise_signal(signal.Signals[name])
        qtbot.waitUntil(lambda: bool(asked))
    finally:
        signals.restore()
        signal.signal(signal.Signals[name], old)
    assert asked == [name]


@pytest.mark.usefixtures("qtbot")
def test_a_signal_that_the_caller_ignores_stays_ignored():
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        signals = QuitSignals(lambda: None)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        signals.restore()
    finally:
        signal.signal(signal.SIGHUP, old)

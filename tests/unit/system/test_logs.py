from __future__ import annotations

import logging
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagedesk.system.logs import LogFile


@pytest.fixture(autouse=True)
def quiet_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hooks that pytest sets would fail the test for the very exceptions that it raises on purpose."""
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    log = LogFile(tmp_path / "logs")
    yield log
    log.close()


def text_of(log: LogFile) -> str:
    assert log.path is not None
    return log.path.read_text(encoding="utf-8")


def raise_in_a_thread(error: BaseException) -> None:
    def fail() -> None:
        raise error

    thread = threading.Thread(target=fail, name="engine")
    thread.start()
    thread.join()


def test_records_of_every_logger_land_in_the_file(log: LogFile) -> None:
    logging.getLogger("pagedesk.somewhere").info("a model of %d MB", 98)

    assert "pagedesk.somewhere: a model of 98 MB" in text_of(log)


def test_an_uncaught_exception_of_any_thread_is_logged_with_its_trace(log: LogFile) -> None:
    raise_in_a_thread(ValueError("lost in a thread"))

    assert "uncaught exception in engine" in text_of(log)
    assert "ValueError: lost in a thread" in text_of(log)
    assert "Traceback" in text_of(log)


def test_an_uncaught_exception_of_the_main_thread_is_logged(log: LogFile) -> None:
    error = ValueError("lost at home")
    sys.excepthook(ValueError, error, None)

    assert "ValueError: lost at home" in text_of(log)


def test_an_exception_in_a_finalizer_is_logged(log: LogFile) -> None:
    class Fragile:
        def __del__(self) -> None:
            raise ValueError("lost at the end")

    Fragile()

    assert "ValueError: lost at the end" in text_of(log)


def test_a_thread_that_exits_on_purpose_is_not_an_error(log: LogFile) -> None:
    raise_in_a_thread(SystemExit())

    assert text_of(log) == ""


def test_half_an_emoji_in_a_record_is_no_error(log: LogFile) -> None:
    logging.getLogger("pagedesk").warning("odd name \ud83d")

    assert "odd name \\ud83d" in text_of(log)


def test_a_full_file_is_set_aside_and_a_few_are_kept(log: LogFile) -> None:
    for _ in range(60):
        logging.getLogger("pagedesk").info("x" * 100_000)

    assert log.path is not None
    assert sorted(entry.name for entry in log.path.parent.iterdir()) == [
        "pagedesk.log",
        "pagedesk.log.1",
        "pagedesk.log.2",
        "pagedesk.log.3",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file modes")
def test_the_log_is_readable_by_its_owner_only(log: LogFile) -> None:
    assert log.path is not None
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_close_puts_the_hooks_back(tmp_path: Path) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook, list(logging.getLogger().handlers))

    LogFile(tmp_path).close()

    assert (sys.excepthook, threading.excepthook, sys.unraisablehook, logging.getLogger().handlers) == before


def test_a_folder_that_cannot_be_written_to_does_not_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file is in the way")

    log = LogFile(tmp_path / "logs")

    assert log.path is None
    log.close()

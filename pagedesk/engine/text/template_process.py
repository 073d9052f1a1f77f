"""Renders a template in a process of its own, which is ended when it takes too long.

Engine thread. The process starts with the first chat, stays for the next ones, and ends with its owner or, if that is
killed, with its pipe. Why a process: a single comparison of nested lists can hold Python for hours, and no thread gets
a word in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pagedesk
from pagedesk.engine.text.template_sandbox import TemplateRefusal

_WORKER = "pagedesk.engine.text.template_worker"
_START_LIMIT_S = 30.0


class TemplateFailure(Exception):  # noqa: N818 - it is the template that failed
    """What the template failed with, in words."""


class TemplateProcess:
    """One template in its process.

    Args:
        source: Jinja source.
        special_tokens: Spellings by the names that templates use.
        time_limit_s: How long a rendering may take; the start of the process does not count.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str], time_limit_s: float) -> None:
        self._first = {"source": source, "special_tokens": dict(special_tokens)}
        self._time_limit_s = time_limit_s
        self._process: subprocess.Popen[str] | None = None
        self._end: weakref.finalize[..., TemplateProcess] | None = None
        self._is_ready = False

    def start(self) -> None:
        """Start the process, if it does not run; does not wait for it."""
        if self._process is None:
            self._process = _start()
            self._end = weakref.finalize(self, _kill, self._process)
            self._is_ready = False

    def render(self, messages: Sequence[Mapping[str, str]], now: datetime) -> str:
        """The text of these messages.

        Raises:
            TemplateRefusal: The template called `raise_exception`.
            TemplateFailure: It failed.
            TimeoutError: It had not ended in time.
        """
        process = self._ready()
        request = {"messages": [dict(message) for message in messages], "now": _in_json(now)}
        answer = self._ask(process, request, self._time_limit_s)
        if "refusal" in answer:
            raise TemplateRefusal(answer["refusal"])
        if "failure" in answer:
            raise TemplateFailure(answer["failure"])
        return str(answer["text"])

    def close(self) -> None:
        """End the process."""
        if self._end is not None:
            self._end()
        self._process = None

    def _ready(self) -> subprocess.Popen[str]:
        self.start()
        assert self._process is not None
        process = self._process
        if not self._is_ready:
            self._ask(process, self._first, _START_LIMIT_S)
            self._is_ready = True
        return process

    def _ask(self, process: subprocess.Popen[str], request: Mapping[str, object], limit_s: float) -> dict[str, Any]:
        answers: list[str] = []
        helper = threading.Thread(target=_exchange, args=(process, request, answers), name="template", daemon=True)
        helper.start()
        helper.join(limit_s)
        if helper.is_alive():
            self.close()
            raise TimeoutError(f"no end after {limit_s:g} s")
        if not answers or not answers[0].endswith("\n"):
            self.close()
            raise TemplateFailure("it broke down, for lack of memory or a fault of its own")
        answer: dict[str, Any] = json.loads(answers[0])
        return answer


def _start() -> subprocess.Popen[str]:
    root = str(Path(pagedesk.__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", _WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="ascii",
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,  # Ctrl+C in the terminal is not for it
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _exchange(process: subprocess.Popen[str], request: Mapping[str, object], answers: list[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answers.append(process.stdout.readline())
    except (OSError, ValueError):
        return  # it died, or was ended: there is no answer


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            continue  # what it had not read yet


def _in_json(moment: datetime) -> dict[str, object]:
    offset = moment.utcoffset()
    offset_s = None if offset is None else offset.total_seconds()
    return {"time": moment.replace(tzinfo=None).isoformat(), "offset_s": offset_s, "zone": moment.tzname() or ""}

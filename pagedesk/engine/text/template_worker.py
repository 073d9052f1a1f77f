"""The process that renders a stranger's template: it may freeze, swell or crash without harm to the program.

Reads a line of JSON with the template, then one with each chat; writes a line of JSON for each. Ends with its input.
Imports neither torch nor anything else of the engine that is slow.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any

from pagedesk.engine.text.renderer import Renderer
from pagedesk.engine.text.template_sandbox import TemplateRefusal

MAX_MEMORY_BYTES = 1 << 29
_LAST_RESORT_S = 10
"""The owner ends a rendering much sooner; this is for one that outlives its owner."""


def main() -> None:
    """Serve until the input ends."""
    _limit_memory()
    first = json.loads(sys.stdin.readline())
    renderer = Renderer(first["source"], first["special_tokens"])
    _answer({"ready": True})
    for line in sys.stdin:
        faulthandler.dump_traceback_later(_LAST_RESORT_S, exit=True)
        answer = _rendered(renderer, json.loads(line))
        faulthandler.cancel_dump_traceback_later()
        _answer(answer)


def _rendered(renderer: Renderer, request: dict[str, Any]) -> dict[str, object]:
    try:
        return {"text": renderer.render(request["messages"], _moment(request["now"]))}
    except TemplateRefusal as refusal:
        return {"refusal": str(refusal)}
    except Exception as error:  # noqa: BLE001 - a template can fail in any way
        return {"failure": f"{type(error).__name__}: {error}" if str(error) else type(error).__name__}


def _moment(given: dict[str, Any]) -> datetime:
    zone = None if given["offset_s"] is None else timezone(timedelta(seconds=given["offset_s"]), given["zone"])
    return datetime.fromisoformat(given["time"]).replace(tzinfo=zone)


def _answer(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _limit_memory() -> None:
    """Where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


if __name__ == "__main__":
    main()

"""What is said beside the answers, on the error stream so that these can be piped: loading, what was left out."""

from __future__ import annotations

import sys

from pagedesk.protocol import EnginePhase, EngineStatus, TurnsDropped


class LoadProgressLine:
    """Called with each status; rewrites one line on a terminal, says nothing elsewhere or when quiet."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()

    def __call__(self, status: EngineStatus) -> None:
        """Show a status."""
        if not self._shown or status.phase is not EnginePhase.LOADING:
            return
        share = f" {100 * status.done // status.total} %" if status.total else ""
        sys.stderr.write(f"\r\033[KLoading {status.stage}{share}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def print_dropped(event: TurnsDropped) -> None:
    """Say that the chat has outgrown the context."""
    what = f"{event.num_messages:,} of the oldest messages ({event.num_tokens:,} tokens)"
    print(f"pagedesk: left out to make room: {what}", file=sys.stderr)

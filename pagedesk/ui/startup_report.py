"""How long the start took, a line on stdout for each moment that counts.

Time runs from the launch of the program: the launcher's, if it told it, else that of this process.
"""

from __future__ import annotations

import os
import sys
import time

LAUNCHED_AT_VARIABLE = "PAGEDESK_LAUNCHED_AT"


class StartupReport:
    """Writes a line a moment."""

    def note(self, moment: str) -> None:
        """For instance "first paint: 0.84 s"."""
        now = time.time()
        sys.stdout.write(f"{moment}: {now - _launched_at():.2f} s\n")
        sys.stdout.flush()


def _launched_at() -> float:
    """Seconds since the epoch."""
    try:
        return float(os.environ[LAUNCHED_AT_VARIABLE])
    except (KeyError, ValueError):
        import psutil  # noqa: PLC0415 - would slow down the start that is measured

        return float(psutil.Process().create_time())

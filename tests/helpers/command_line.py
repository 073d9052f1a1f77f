"""The command line as a user runs it: its own process, its own home."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_pagedesk(*arguments: str, home: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run `pagedesk ARGUMENTS...` to its end."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    environment = {**os.environ, "PAGEDESK_HOME": str(home), "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "pagedesk", *arguments]
    return subprocess.run(
        command, check=False, env=environment, input=stdin, capture_output=True, text=True, timeout=300
    )

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from launcher.single import alone

HOLDER = """
import sys; sys.path.insert(0, {packaging!r})
from pathlib import Path
from launcher.single import alone
with alone(Path(sys.argv[1])):
    print("mine", flush=True)
"""


def test_a_second_launcher_waits_for_the_first(tmp_path: Path, root: Path) -> None:
    lock = tmp_path / ".venv.lock"
    script = HOLDER.format(packaging=str(root / "packaging"))
    with alone(lock):
        second = subprocess.Popen([sys.executable, "-c", script, str(lock)], stdout=subprocess.PIPE, text=True)
        assert second.stdout is not None
        first_line = second.stdout.readline()

    rest, _ = second.communicate()

    assert "waiting" in first_line
    assert rest == "mine\n"

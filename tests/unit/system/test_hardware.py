from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pagedesk.system.hardware import probe_machine

ROOT = Path(__file__).resolve().parents[3]


def test_this_machine_has_a_processor_and_memory() -> None:
    machine = probe_machine()

    assert machine.cpu_name
    assert machine.num_threads == os.cpu_count()
    assert machine.ram_total_bytes is not None
    assert machine.ram_available_bytes is not None
    assert 0 < machine.ram_available_bytes <= machine.ram_total_bytes


def test_the_probe_loads_no_torch() -> None:
    script = "import sys, pagedesk.system.hardware as h; h.probe_machine(); sys.exit('torch' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})

    assert done.returncode == 0

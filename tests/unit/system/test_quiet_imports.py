"""Heavy imports that let other threads go on."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from pagedesk.system.quiet_imports import quiet_imports

ROOT = Path(__file__).resolve().parents[3]
PROBE = """
import sys
from pathlib import Path
from pagedesk.system.quiet_imports import quiet_imports
with quiet_imports():
    print("torch" in sys.modules, "libtorch_python" in Path("/proc/self/maps").read_text())
    import torch
print(torch.ones(2).sum().item())
"""


@pytest.fixture(autouse=True)
def _thaw():
    yield
    gc.unfreeze()


def test_nothing_is_collected_inside_and_it_goes_on_afterwards():
    with quiet_imports():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collections_go_on_after_an_import_that_failed():
    with pytest.raises(ImportError), quiet_imports():
        raise ImportError
    assert gc.isenabled()


def test_what_was_imported_is_spared_by_later_collections():
    before = gc.get_freeze_count()
    with quiet_imports():
        pass
    assert gc.get_freeze_count() > before


@pytest.mark.skipif(sys.platform != "linux", reason="torch maps its libraries without the lock there")
def test_the_libraries_of_torch_are_mapped_before_its_import_and_torch_works():
    result = subprocess.run([sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "True", "2.0"]

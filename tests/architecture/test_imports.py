"""What an import may pull in: the window must paint before torch is there, the engine must not know Qt."""

import subprocess
import sys

import pytest

PROBE = "import sys, {module}; print([name for name in {forbidden!r} if name in sys.modules])"

FORBIDDEN = [
    ("pagedesk.app", ["torch", "triton", "transformers", "huggingface_hub", "pyqtgraph"]),
    ("pagedesk.engine.engine", ["PySide6", "shiboken6", "pyqtgraph"]),
    ("pagedesk.engine.thread", ["PySide6", "shiboken6", "torch", "transformers"]),
    ("pagedesk_kernels", ["triton", "pagedesk", "PySide6"]),
    ("pagedesk_kernels.reference", ["triton", "pagedesk", "PySide6"]),
]


@pytest.mark.parametrize(("module", "forbidden"), FORBIDDEN)
def test_an_import_pulls_in_nothing_that_its_layer_must_not_know(module, forbidden):
    probe = PROBE.format(module=module, forbidden=forbidden)
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"

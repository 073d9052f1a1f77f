"""The starter model as the tests use it: the real weights that ship with the program."""

from pathlib import Path

from pagedesk.system.starter import starter_model_path


def starter_model() -> Path:
    """The path of the starter model, which the test command installs: where it is missing, the set-up has a hole."""
    path = starter_model_path()
    assert path is not None, "the starter model is not installed: run packaging/launch.py test once"
    return path

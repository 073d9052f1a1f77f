"""The starter model as the tests use it: the real weights that ship with the program."""

from pathlib import Path

from pagedesk.system.starter import starter_model_path


def starter_model() -> Path:
    """The path of the starter model.

    Raises:
        RuntimeError: it is not installed; the test command of the README installs it.
    """
    path = starter_model_path()
    if path is None:
        raise RuntimeError("the starter model is not installed; packaging/launch.py test installs it")
    return path

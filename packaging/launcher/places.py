"""Where things are: the source tree, its `.venv` and what is inside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

IS_WINDOWS = os.name == "nt"

_FOREIGN = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH")
"""Variables by which another Python or Qt on the machine would get into ours."""


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of one source tree."""

    root: Path

    @property
    def venv(self) -> Path:
        """The folder of the virtual environment."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The virtual environment's interpreter, as a path that keeps it inside (not resolved)."""
        return self.venv / "Scripts" / "python.exe" if IS_WINDOWS else self.venv / "bin" / "python"

    @property
    def stamp(self) -> Path:
        """What was installed, written last."""
        return self.venv / "pagedesk.json"

    @property
    def log(self) -> Path:
        """Everything that pip said."""
        return self.venv / "pagedesk-install.log"

    def site_packages(self) -> Path | None:
        """The folder of the installed packages; None in half an environment."""
        pattern = "Lib/site-packages" if IS_WINDOWS else "lib/python3.*/site-packages"
        return next(iter(self.venv.glob(pattern)), None)

    def lock(self, name: str) -> Path:
        """A lock file, for instance `lock("runtime")`."""
        return self.root / "packaging" / "locks" / f"{name}.txt"


def clean_environment() -> dict[str, str]:
    """This process's environment without what would lead another Python or Qt into ours."""
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN}

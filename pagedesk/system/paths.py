"""Where PageDesk keeps its files; the environment variable PAGEDESK_HOME puts all of them into one folder.

Every folder is made when it is asked for, for its owner only. Any thread.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import PlatformDirs

from pagedesk.system.errors import UserError

HOME_VARIABLE = "PAGEDESK_HOME"
_DIRS = PlatformDirs("pagedesk", appauthor=False)


def data_dir() -> Path:
    """Chats and settings: what must not be lost.

    Raises:
        UserError: The folder cannot be made (this holds for every folder here).
    """
    return _made(_under_home("data") or _DIRS.user_data_path)


def log_dir() -> Path:
    """Log files."""
    return _made(_under_home("logs") or _DIRS.user_log_path)


def database_path() -> Path:
    """The file of the chat store."""
    return data_dir() / "chats.sqlite3"


def remembered_path() -> Path:
    """The file of what the next start of the window takes over."""
    return data_dir() / "window.json"


def _under_home(name: str) -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    try:
        return Path(home).expanduser().resolve() / name if home else None
    except (RuntimeError, OSError, ValueError) as error:  # no such user, links in a circle
        why = str(error).rstrip(".")
        raise UserError(
            f"The folder {home} that the environment variable {HOME_VARIABLE} names cannot be found: {why}.",
            f"Set {HOME_VARIABLE} to a folder that you may write to.",
        ) from error


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The folder {folder} could not be made: {error.strerror or error}.",
            f"Set the environment variable {HOME_VARIABLE} to a folder that you may write to.",
        ) from error
    return folder

"""Notices that PageDesk was started again, so that the window that is there can come to the front.

GUI thread. Woken by the system when a file appears in the folder of the chats; asks nothing of a network.
"""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal

from pagedesk.system.single_instance import take_request

_logger = logging.getLogger(__name__)


class SecondStart(QObject):
    """Watches a folder until `end()`.

    Signals:
        noticed: PageDesk was started again.
    """

    noticed = Signal()

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self.look)
        if not self._watcher.addPath(str(folder)):
            _logger.warning("%s cannot be watched: a second start will not show this window", folder)

    def look(self) -> None:
        """Look for a request now; one may have come before the watch began."""
        if take_request(self._folder):
            self.noticed.emit()

    def end(self) -> None:
        """Watch no longer."""
        self._watcher.removePaths(self._watcher.directories())

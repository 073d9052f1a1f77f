"""What the window knows of the engine: its status, the model, why the last load failed, the newest snapshot.

GUI thread. A model fed by the bridge; it also passes on the wish for another model.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from pagedesk.bridge import EngineBridge
from pagedesk.protocol import (
    DType,
    EnginePhase,
    EngineStatus,
    LoadFailed,
    LoadModel,
    ModelInfo,
    ModelReady,
    PoolSnapshot,
    Stalled,
)


class EngineState(QObject):
    """The engine as last heard of.

    Signals:
        changed: Status, model or failure changed, or the engine does not answer.
        pool_changed: There is a newer snapshot, or no pool any more.
    """

    changed = Signal()
    pool_changed = Signal()

    def __init__(self, bridge: EngineBridge, dtype: DType = DType.AUTO, starter: Path | None = None) -> None:
        super().__init__()
        self._bridge = bridge
        self._dtype = dtype
        self.starter = starter
        self.status = EngineStatus(EnginePhase.STARTING)
        self.loading_path: Path | None = None
        self._asked_path: Path | None = None
        self.ready: ModelReady | None = None
        self.failure: LoadFailed | None = None
        self.stalled_s: int | None = None
        self.pool: PoolSnapshot | None = None
        bridge.status_changed.connect(self._on_status)
        bridge.stalled.connect(self._on_stalled)
        bridge.model_ready.connect(self._on_ready)
        bridge.load_failed.connect(self._on_failed)
        bridge.pool_changed.connect(self._on_pool)

    @property
    def model(self) -> ModelInfo | None:
        """The model that is loaded."""
        return self.ready.model if self.ready else None

    @property
    def is_loading(self) -> bool:
        """Whether a model is on its way."""
        return self.loading_path is not None

    @property
    def is_starter(self) -> bool:
        """Whether the model loaded, or on its way, is the one that came with PageDesk."""
        path = self.loading_path or (Path(self.model.path) if self.model else None)
        return path is not None and path == self.starter

    def load(self, path: Path) -> None:
        """Ask for a model in place of the one that is loaded, which stays until the engine has looked at the other."""
        self.loading_path = self._asked_path = path
        self.failure = None
        self._bridge.send(LoadModel(str(path), self._dtype))
        self.changed.emit()

    def dismiss_failure(self) -> None:
        """The user has read why the load failed."""
        self.failure = None
        self.changed.emit()

    def _on_status(self, status: EngineStatus) -> None:
        self.status = status
        if status.phase is EnginePhase.LOADING:
            # Of the model that was asked for last; what became of one before it may have come since.
            self.loading_path, self.ready, self.failure = self._asked_path, None, None
        if status.phase is not EnginePhase.READY and self.pool is not None:
            self._on_pool(None)
        self.changed.emit()

    def _on_stalled(self, event: Stalled) -> None:
        self.stalled_s = event.seconds
        self.changed.emit()

    def _on_ready(self, event: ModelReady) -> None:
        self.loading_path, self.ready, self.failure = None, event, None
        self.changed.emit()

    def _on_failed(self, event: LoadFailed) -> None:
        if self.loading_path is not None and self.loading_path != Path(event.path):
            return  # another model was chosen since, and its load comes next
        self.loading_path, self.failure = None, event
        if not event.keeps_model:
            self.ready = None
        self.changed.emit()

    def _on_pool(self, snapshot: PoolSnapshot | None) -> None:
        self.pool = snapshot
        self.pool_changed.emit()

"""The line at the bottom: what the engine is doing, in a few figures of its own.

GUI thread; painted, cut from the right where there is no room.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from pagedesk.protocol import EnginePhase, EngineStatus, PoolSnapshot
from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.painting import draw_dot
from pagedesk.ui.text_style import figures_font
from pagedesk.ui.theme import Theme, tokens

_LEFT = 12
_GAP = 18
_TEXT_LEFT = 25

translate = QCoreApplication.translate


class StatusLine(QWidget):
    """26 pixels high."""

    def __init__(self, theme: Theme, state: EngineState) -> None:
        super().__init__()
        self._theme = theme
        self._state = state
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        state.changed.connect(self._refresh)
        state.pool_changed.connect(self._refresh)
        self._refresh()

    @property
    def texts(self) -> list[str]:
        """What it says, left to right."""
        pool = self._state.pool
        return [engine_text(self._state), *(pool_texts(pool) if pool is not None else [])]

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    def _refresh(self) -> None:
        self.setAccessibleName(", ".join(self.texts))
        self.update()

    def _dot_color(self) -> str:
        if self._state.stalled_s is not None:
            return "warning"
        if self._state.status.phase is EnginePhase.READY:
            return "success"
        if self._state.failure is not None:
            return "danger"
        is_loading = self._state.is_loading or self._state.status.phase is EnginePhase.LOADING
        return "warning" if is_loading else "text_muted"

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, tokens()["size"]["status_line"])

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("bg_window"))
            painter.fillRect(0, 0, self.width(), 1, self._theme.color("border_subtle"))
            draw_dot(painter, QPointF(_LEFT + 3.5, self.height() / 2 + 0.5), self._theme.color(self._dot_color()))
            painter.setFont(figures_font(self._theme, "small"))
            painter.setPen(self._theme.color("text_muted"))
            left = _TEXT_LEFT
            for text in self.texts:
                place = self.rect().adjusted(left, 1, -_LEFT, 0)
                shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(0, place.width()))
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)
                left += painter.fontMetrics().horizontalAdvance(text) + _GAP


def engine_text(state: EngineState) -> str:
    """What the engine as a whole does, for instance "Loading weights 43 %"."""
    if state.stalled_s is not None:
        return translate("status", "The engine has not answered for {n} s").format(n=state.stalled_s)
    if state.status.phase is EnginePhase.EMPTY and state.is_loading:
        return translate("status", "Loading the model")
    words = {
        EnginePhase.STARTING: translate("status", "Starting the engine"),
        EnginePhase.READY: translate("status", "Ready"),
        EnginePhase.EMPTY: translate("status", "No model loaded"),
        EnginePhase.STOPPED: translate("status", "The engine has ended"),
    }
    return words.get(state.status.phase) or _loading_text(state.status)


def _loading_text(status: EngineStatus) -> str:
    stages = {
        "engine": translate("status", "Starting the engine"),
        "weights": translate("status", "Loading weights"),
        "tokenizer": translate("status", "Loading the tokenizer"),
        "header": translate("status", "Reading the file"),
        "cache": translate("status", "Making room for chats"),
    }
    text = stages.get(status.stage, translate("status", "Loading the model"))
    return f"{text} {100 * status.done // status.total} %" if status.total else text


def pool_texts(pool: PoolSnapshot) -> list[str]:
    """Chats under way, the newest step and the hits of the prefix cache."""
    texts = [_running_text(pool)] if pool.num_running or pool.num_waiting else []
    if pool.step_index:
        texts.append(translate("status", "Step {ms} ms").format(ms=f"{pool.step_ms:.1f}"))
    asked = pool.prompt_tokens + pool.cached_prompt_tokens
    if asked:
        share = round(100 * pool.cached_prompt_tokens / asked)
        texts.append(translate("status", "Cache hits {share} %").format(share=share))
    return texts


def _running_text(pool: PoolSnapshot) -> str:
    if pool.num_running == 1:
        text = translate("status", "1 chat running")
    else:
        text = translate("status", "{n} chats running").format(n=pool.num_running)
    if pool.num_waiting:
        text += ", " + (
            translate("status", "1 waits")
            if pool.num_waiting == 1
            else translate("status", "{n} wait").format(n=pool.num_waiting)
        )
    return text

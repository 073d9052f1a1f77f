"""The button that says which model is loaded, and its menu for another one.

GUI thread. Painted like a button: dot of the state, name, quantisation, size.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget
from typing_extensions import override

from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.formats import file_size
from pagedesk.ui.icons import pixmap
from pagedesk.ui.painting import draw_dot
from pagedesk.ui.theme import Theme

_HEIGHT = 30
_LEFT, _RIGHT = 12, 10
_DOT = 7
_GAP = 8
_CHEVRON = 14
_MAX_NAME_WIDTH = 320


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    color: str
    weight: QFont.Weight = QFont.Weight.Normal


class ModelPicker(QToolButton):
    """Shows the model; its menu opens another.

    Signals:
        path_chosen: A GGUF file to load.
    """

    path_chosen = Signal(Path)

    def __init__(self, theme: Theme, state: EngineState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state = state
        self.setObjectName("modelPicker")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._make_menu()
        state.changed.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    def open_file(self) -> None:
        """Let the user choose a file."""
        text = self.tr("Open a GGUF file")
        name, _ = QFileDialog.getOpenFileName(self.window(), text, "", self.tr("GGUF models (*.gguf)"))
        if name:
            self.path_chosen.emit(Path(name))

    def _make_menu(self) -> None:
        menu = QMenu(self)
        starter = self._state.starter
        if starter is not None:
            menu.addAction(self.tr("Starter model"), lambda: self.path_chosen.emit(starter))
        menu.addAction(self.tr("Open a GGUF file\u2026"), self.open_file)
        self.setMenu(menu)

    def _refresh(self) -> None:
        self.setAccessibleName(self.tr("Model: {name}").format(name=" ".join(p.text for p in self._pieces())))
        self.updateGeometry()
        self.update()

    def _state_color(self) -> str:
        if self._state.is_loading:
            return "warning"
        return "success" if self._state.model is not None else "danger" if self._state.failure else "text_muted"

    def _pieces(self) -> list[_Piece]:
        model = self._state.model
        if self._state.loading_path is not None:
            name = self._state.loading_path.stem
            return [_Piece(name, "text_primary", QFont.Weight.Medium), _Piece(self.tr("loading"), "text_secondary")]
        if model is not None:
            return [
                _Piece(model.name, "text_primary", QFont.Weight.Medium),
                _Piece(model.quantisation, "text_secondary"),
                _Piece(file_size(model.file_bytes), "text_muted"),
            ]
        return [_Piece(self.tr("No model loaded"), "text_primary", QFont.Weight.Medium)]

    def _font(self, piece: _Piece) -> QFont:
        font = self._theme.font("ui")
        font.setWeight(piece.weight)
        return font

    def _elided(self, piece: _Piece) -> str:
        metrics = QFontMetrics(self._font(piece))
        return metrics.elidedText(piece.text, Qt.TextElideMode.ElideRight, _MAX_NAME_WIDTH)

    @override
    def sizeHint(self) -> QSize:
        width = _LEFT + _DOT + _GAP + _CHEVRON + _RIGHT
        for piece in self._pieces():
            width += QFontMetrics(self._font(piece)).horizontalAdvance(self._elided(piece)) + _GAP
        return QSize(width, _HEIGHT)

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_frame(painter)
            x = _LEFT + _DOT / 2
            draw_dot(painter, QPointF(x, self.height() / 2), self._theme.color(self._state_color()))
            left = _LEFT + _DOT + _GAP
            for piece in self._pieces():
                painter.setFont(self._font(piece))
                painter.setPen(self._theme.color(piece.color))
                text = self._elided(piece)
                painter.drawText(self.rect().adjusted(left, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
                left += painter.fontMetrics().horizontalAdvance(text) + _GAP
            chevron = pixmap("chevron-down", self._theme.color("text_muted"), _CHEVRON, self.devicePixelRatioF())
            painter.drawPixmap(self.width() - _RIGHT - _CHEVRON, (self.height() - _CHEVRON) // 2, chevron)

    def _paint_frame(self, painter: QPainter) -> None:
        border = "danger" if self._state.failure else "border"
        if self.hasFocus():
            border = "focus_ring"
        painter.setPen(QPen(self._theme.color(border), 2 if self.hasFocus() else 1))
        painter.setBrush(self._theme.color("surface_hover" if self.underMouse() else "surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

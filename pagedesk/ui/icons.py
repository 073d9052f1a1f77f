"""The icons: outline drawings of the resources, rendered once per name, size and colour.

GUI thread. An icon takes the colour of the text beside it, so the caller names a colour.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from pagedesk.system.resources import resource_path

_SCALES = (1, 2, 3)


def icon(name: str, color: QColor, disabled: QColor | None = None, size: int = 16) -> QIcon:
    """An icon of `size` logical pixels; `disabled` is its colour while it cannot be used."""
    made = QIcon()
    for scale in _SCALES:
        made.addPixmap(pixmap(name, color, size, scale))
        if disabled is not None:
            made.addPixmap(pixmap(name, disabled, size, scale), QIcon.Mode.Disabled)
    return made


def pixmap(name: str, color: QColor, size: int = 16, scale: float = 1.0) -> QPixmap:
    """A square of `size` logical pixels for a screen with `scale` device pixels each."""
    return _render(name, color.name(), size, scale)


@cache
def application_icon() -> QIcon:
    """The icon of the program."""
    return QIcon(str(resource_path("icons", "pagedesk.svg")))


@cache
def _render(name: str, color: str, size: int, scale: float) -> QPixmap:
    device_size = round(size * scale)
    made = QPixmap(QSize(device_size, device_size))
    made.fill(Qt.GlobalColor.transparent)
    svg = _source(name).replace("currentColor", color)
    with QPainter(made) as painter:
        QSvgRenderer(QByteArray(svg.encode())).render(painter)
    made.setDevicePixelRatio(scale)
    return made


@cache
def _source(name: str) -> str:
    return resource_path("icons", f"{name}.svg").read_text(encoding="utf-8")

"""The look of the standard widgets: Fusion, a palette and one style sheet, all made from the tokens.

GUI thread.
"""

from __future__ import annotations

from string import Template

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from pagedesk.ui.theme import Scheme, Theme, tokens

_ROLES = {
    QPalette.ColorRole.Window: "bg_window",
    QPalette.ColorRole.WindowText: "text_primary",
    QPalette.ColorRole.Base: "bg_pane",
    QPalette.ColorRole.AlternateBase: "surface",
    QPalette.ColorRole.Text: "text_primary",
    QPalette.ColorRole.PlaceholderText: "text_muted",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.ButtonText: "text_primary",
    QPalette.ColorRole.ToolTipBase: "tooltip_bg",
    QPalette.ColorRole.ToolTipText: "tooltip_text",
    QPalette.ColorRole.Highlight: "selection_bg",
    QPalette.ColorRole.HighlightedText: "selection_text",
    QPalette.ColorRole.Link: "link",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Light: "border",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border_subtle",
    QPalette.ColorRole.Shadow: "border_subtle",
}

_SHEET = Template("""
QWidget#topBar { background: $bg_window; border-bottom: 1px solid $border_subtle; }
QWidget#sidebar { background: $bg_sidebar; }
QWidget#pane, QWidget#paneArea, QWidget#headingBox, QWidget#suggestions { background: $bg_pane; }
QFrame#sideCover { background: $bg_sidebar; border: 0; border-left: 1px solid $border_strong;
  border-right: 1px solid $border_strong; }
QWidget#compactGauge { background: $bg_window; border-top: 1px solid $border_subtle; }
QWidget#paneTabs { background: $bg_window; border-bottom: 1px solid $border_subtle; }
QTabBar::tab { background: transparent; color: $text_secondary; padding: 6px 10px; max-width: 180px;
  border: 0; border-bottom: 2px solid transparent; }
QTabBar::tab:hover { background: $surface_hover; }
QTabBar::tab:selected { color: $text_primary; border-bottom-color: $accent; }
QTabBar::tab:focus { border-bottom-color: $focus_ring; }
QSplitter::handle { background: $border_subtle; }
QToolTip { background: $tooltip_bg; color: $tooltip_text; border: 1px solid $border_strong; padding: 4px 6px; }

QToolButton { border: 0; border-radius: 6px; background: transparent; color: $text_secondary; }
QToolButton:hover { background: $surface_hover; }
QToolButton:pressed, QToolButton:checked { background: $surface_selected; }
QToolButton:focus { border: 2px solid $focus_ring; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton#newChat { border: 1px solid $border; background: $surface; }
QToolButton#newChat:hover { background: $surface_hover; }
QToolButton#newChat:focus { border: 2px solid $focus_ring; }
QToolButton#send { background: $accent; }
QToolButton#send:hover { background: $accent_hover; }
QToolButton#send:pressed { background: $accent_pressed; }
QToolButton#send:disabled { background: $surface_hover; }
QToolButton#send:focus { border: 2px solid $text_primary; }
QToolButton#send[stops="true"] { background: $surface_selected; }
QToolButton#send[stops="true"]:hover { background: $border; }

QPushButton { min-height: 26px; padding: 0 10px; border: 1px solid $border; border-radius: 6px; background: $surface; }
QPushButton:hover { background: $surface_hover; }
QPushButton:pressed { background: $surface_selected; }
QPushButton:focus { border-color: $focus_ring; }
QPushButton#primary { background: $accent; border-color: $accent; color: $text_on_accent; font-weight: 600; }
QPushButton#primary:hover { background: $accent_hover; }
QPushButton#primary:pressed { background: $accent_pressed; }
QPushButton#primary:focus { border: 2px solid $text_primary; }

QLineEdit { border: 1px solid $border; border-radius: 6px; background: $bg_pane; padding: 0 6px; min-height: 26px;
  selection-background-color: $selection_bg; selection-color: $selection_text; }
QLineEdit:focus { border-color: $focus_ring; }
QLineEdit#title { min-height: 22px; padding: 0 4px; }

QFrame#composer { background: $surface; border: 1px solid $border; border-radius: 8px; padding: 1px; }
QFrame#composer[focused="true"] { border: 2px solid $focus_ring; padding: 0; }
QFrame#composer QPlainTextEdit { background: transparent; border: 0; color: $text_primary;
  selection-background-color: $selection_bg; selection-color: $selection_text; }
QPlainTextEdit#systemPrompt { background: $bg_pane; border: 1px solid $border; border-radius: 6px; padding: 5px;
  color: $text_primary; selection-background-color: $selection_bg; selection-color: $selection_text; }
QPlainTextEdit#systemPrompt:focus { border: 2px solid $focus_ring; padding: 4px; }
QFrame#focusRing { background: transparent; border: 2px solid $focus_ring; border-radius: 6px; }
QFrame#notice { background: $danger_subtle; border: 1px solid $danger; border-radius: 8px; margin: 10px 12px; }
QLabel#secondary { color: $text_secondary; }
QLabel#muted { color: $text_muted; }

QListView { background: transparent; border: 0; outline: 0; }

QMenu { background: $surface_raised; border: 1px solid $border; border-radius: 8px; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 10px; border-radius: 4px; color: $text_primary; }
QMenu::item:selected { background: $surface_selected; }
QMenu::item:disabled { color: $text_disabled; }
QMenu::separator { height: 1px; background: $border; margin: 4px 6px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar::handle:vertical { background: $scrollbar; border-radius: 3px; min-height: 28px; margin: 2px; }
QScrollBar::handle:vertical:hover { background: $scrollbar_hover; }
QScrollBar::add-line, QScrollBar::sub-line { height: 0; width: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
""")


def system_scheme() -> Scheme:
    """The scheme that the desktop asks for; dark where it does not say."""
    name = QApplication.styleHints().colorScheme().name
    return Scheme.LIGHT if name == "Light" else Scheme.DARK


def apply_theme(application: QApplication, theme: Theme) -> None:
    """Dress the whole application."""
    application.setStyle(QStyleFactory.create("Fusion"))
    application.setPalette(_palette(theme))
    application.setFont(theme.font("ui"))
    application.setStyleSheet(style_sheet(theme))


def style_sheet(theme: Theme) -> str:
    """The one style sheet, in the colours of a theme."""
    return _SHEET.substitute(tokens()["color"][theme.scheme])


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, theme.color(name))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.color("text_disabled"))
    return palette

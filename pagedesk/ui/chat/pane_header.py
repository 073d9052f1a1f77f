"""The head of a pane: the chat's chip and title, what it does, its menu and the button that closes the pane.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QRect, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QCursor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from pagedesk.ui.chat.activity_mark import ActivityMark
from pagedesk.ui.chat.conversation import Conversation
from pagedesk.ui.chat.escape_edit import EscapeEdit
from pagedesk.ui.chat.system_prompt_dialog import SystemPromptDialog
from pagedesk.ui.icons import icon
from pagedesk.ui.painting import draw_chip
from pagedesk.ui.parts import icon_button
from pagedesk.ui.text_style import title_font
from pagedesk.ui.theme import Theme, tokens

_CHIP = 10
_LEFT = 14
_TITLE_LEFT = _LEFT + _CHIP + 8
_FOCUS_LINE = 2
_MAX_TITLE = 200
_MAX_TOOL_TIP = 300


class PaneHeader(QWidget):
    """40 pixels high; a line in the chat's colour on top while its pane has the focus.

    Signals:
        renamed: The user gave the chat this title.
        renaming_ended: The field for the title is gone, with or without another title.
        system_prompt_written: The user wrote what the model is told before the first message.
        delete_asked: The user deletes the chat.
        close_asked: The user closes the pane.
    """

    renamed = Signal(str)
    renaming_ended = Signal()
    system_prompt_written = Signal(str)
    delete_asked = Signal()
    close_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._conversation: Conversation | None = None
        self._has_focus = False
        self.mark = ActivityMark(theme, self)
        self.prompt_button = icon_button(self, "panePrompt", 26)
        self.menu_button = icon_button(self, "paneMenu", 26)
        self.menu = QMenu(self.menu_button)
        self.close_button = icon_button(self, "paneClose", 26)
        self._title_edit = EscapeEdit(self)
        self._title_edit.setObjectName("title")
        self._title_edit.setMaxLength(_MAX_TITLE)
        self._title_edit.hide()
        self._title_edit.editingFinished.connect(self._end_renaming)
        self._title_edit.escaped.connect(self._close_title_edit)
        self.setFixedHeight(tokens()["size"]["pane"]["header"])
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._lay_out()
        self._name_buttons()
        self.set_theme(theme)

    @property
    def title(self) -> str:
        """The title that it shows."""
        title = self._conversation.title if self._conversation else ""
        return title or self.tr("New chat")

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.mark.set_theme(theme)
        self.prompt_button.setIcon(icon("text-sheet", theme.color("text_muted")))
        self.menu_button.setIcon(icon("ellipsis", theme.color("text_secondary")))
        self.close_button.setIcon(icon("close", theme.color("text_secondary")))
        self.update()

    def set_conversation(self, conversation: Conversation) -> None:
        """Show another chat."""
        self._conversation = conversation
        self._title_edit.hide()
        self.refresh()

    def set_focused(self, *, has_focus: bool) -> None:
        """Whether its pane is the one in use."""
        self._has_focus = has_focus
        self.update()

    def refresh(self) -> None:
        """Title, system prompt or activity changed."""
        if self._conversation is not None:
            self.mark.show_activity(self._conversation.activity, self._conversation.color_index)
            self._show_prompt(self._conversation.system_prompt)
        self.setAccessibleName(self.title)
        self.update()

    def start_renaming(self) -> None:
        """Make the title a field."""
        self._title_edit.setGeometry(_TITLE_LEFT - 5, 8, max(80, self._title_rect().width()), 24)
        self._title_edit.setText(self.title)
        self._title_edit.selectAll()
        self._title_edit.show()
        self._title_edit.setFocus()

    def edit_system_prompt(self, text: str) -> None:
        """Let the user change what the model is told before the first message, beginning with `text`."""
        dialog = SystemPromptDialog(self._theme, text, self.window())
        dialog.chosen.connect(self.system_prompt_written)
        dialog.open()

    def _edit_system_prompt(self) -> None:
        if self._conversation is not None:
            self.edit_system_prompt(self._conversation.system_prompt)

    def _show_prompt(self, text: str) -> None:
        """A mark for a system prompt; its beginning is the tool tip."""
        self.prompt_button.setVisible(bool(text))
        beginning = f"{text[:_MAX_TOOL_TIP]}\u2026" if len(text) > _MAX_TOOL_TIP else text
        self.prompt_button.setToolTip(f"<span>{escape(beginning)}</span>")  # else tags in it would be taken for its own

    def _end_renaming(self) -> None:
        if self._title_edit.isVisible():
            self._close_title_edit()
            self.renamed.emit(self._title_edit.text())

    def _close_title_edit(self) -> None:
        """The keyboard goes back first: Qt would give that of a hidden field to whatever comes next."""
        with QSignalBlocker(self._title_edit):
            if self._title_edit.hasFocus():
                self.renaming_ended.emit()
            self._title_edit.hide()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(_TITLE_LEFT, 0, 8, 0)
        row.setSpacing(2)
        row.addStretch()
        row.addWidget(self.mark)
        row.addSpacing(6)
        for button in (self.prompt_button, self.menu_button, self.close_button):
            row.addWidget(button)

    def _name_buttons(self) -> None:
        menu = self.menu
        menu.addAction(self.tr("Rename"), self.start_renaming)
        menu.addAction(self.tr("System prompt\u2026"), self._edit_system_prompt)
        sure = menu.addMenu(self.tr("Delete chat"))
        sure.addAction(self.tr("Yes, delete it for good"), self.delete_asked.emit)
        menu.aboutToHide.connect(self._unlight_menu_button)
        self.menu_button.setMenu(menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.prompt_button.setAccessibleName(self.tr("System prompt"))
        self.prompt_button.clicked.connect(self._edit_system_prompt)
        self.menu_button.setAccessibleName(self.tr("Chat menu"))
        self.menu_button.setToolTip(self.tr("Chat menu: rename, system prompt, delete"))
        self.close_button.setAccessibleName(self.tr("Close this pane"))
        self.close_button.setToolTip(self.tr("Close this pane; the chat stays (Ctrl+W)"))
        self.close_button.clicked.connect(self.close_asked)

    def _unlight_menu_button(self) -> None:
        """The pointer went away while the menu had the mouse, so nobody told the button."""
        is_under = self.menu_button.rect().contains(self.menu_button.mapFromGlobal(QCursor.pos()))
        self.menu_button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, is_under)
        self.menu_button.update()

    def _title_rect(self) -> QRect:
        marks = [part.x() for part in (self.mark, self.prompt_button) if part.isVisible()]
        right = min(marks, default=self.menu_button.x())
        return QRect(_TITLE_LEFT, 0, max(0, right - _TITLE_LEFT - 8), self.height())

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._title_rect().contains(event.position().toPoint()):
            self.start_renaming()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._conversation is None:
            return
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("bg_pane"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("border_subtle"))
            color_index = self._conversation.color_index
            if self._has_focus:
                painter.fillRect(0, 0, self.width(), _FOCUS_LINE, self._theme.chat_color(color_index))
            draw_chip(painter, QRectF(_LEFT, (self.height() - _CHIP) / 2, _CHIP, _CHIP), self._theme, color_index)
            painter.setFont(title_font(self._theme, "ui_strong", self.title))
            painter.setPen(self._theme.color("text_primary"))
            place = self._title_rect()
            title = painter.fontMetrics().elidedText(self.title, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, title)

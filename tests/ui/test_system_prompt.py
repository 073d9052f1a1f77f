"""What the model is told before the first message: from the menu of a pane to the request."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication

from pagedesk.chats.errors import ChatStoreError
from pagedesk.protocol import Role
from pagedesk.ui.chat.system_prompt_dialog import SystemPromptDialog
from tests.helpers.fake_engine import finished


@pytest.fixture
def open_dialog(desk, qtbot):
    """Opens the dialog from the menu of the first pane."""

    def open_() -> SystemPromptDialog:
        actions = {action.text(): action for action in desk.pane().header.menu_button.menu().actions()}
        actions["System prompt\u2026"].trigger()
        dialog = shown_dialog(desk)
        qtbot.waitUntil(dialog.edit.hasFocus)
        return dialog

    return open_


def shown_dialog(desk) -> SystemPromptDialog:
    return next(dialog for dialog in desk.window.findChildren(SystemPromptDialog) if dialog.isVisible())


def click(qtbot, button) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def tell(desk, text: str) -> None:
    desk.controller.set_system_prompt(desk.pane().conversation.chat_id, text)


def turns(desk) -> list[tuple[Role, str]]:
    return [(message.role, message.text) for message in desk.engine.submits()[-1].messages]


def saved_prompt(desk) -> str:
    chat_id = desk.pane().conversation.chat_id
    return next(chat.system_prompt for chat in desk.application.store.chats() if chat.chat_id == chat_id)


def test_what_is_written_in_the_dialog_is_the_first_turn_of_the_next_request(desk, qtbot, open_dialog):
    dialog = open_dialog()
    qtbot.keyClicks(dialog.edit, "Be brief.")
    qtbot.keyClick(dialog.edit, Qt.Key.Key_Return)
    qtbot.keyClicks(dialog.edit, "Be kind.")
    click(qtbot, dialog.ok_button)
    desk.ask("Hi")
    assert turns(desk) == [(Role.SYSTEM, "Be brief.\nBe kind."), (Role.USER, "Hi")]
    assert saved_prompt(desk) == "Be brief.\nBe kind."


def test_a_prompt_that_is_changed_between_two_messages_counts_for_the_second(desk):
    tell(desk, "Be brief.")
    desk.say(finished(desk.ask("one")))
    tell(desk, "Rhyme.")
    desk.ask("two")
    assert turns(desk)[0] == (Role.SYSTEM, "Rhyme.")


def test_the_other_pane_is_told_nothing(desk):
    tell(desk, "Be brief.")
    desk.ask("Hi", 1)
    assert turns(desk) == [(Role.USER, "Hi")]


def test_the_prompt_comes_back_at_the_next_start(open_desk):
    first = open_desk()
    tell(first, "Be brief.")
    first.application.close()
    second = open_desk()
    assert second.pane().conversation.system_prompt == "Be brief."
    assert second.pane().header.prompt_button.isVisible()


def test_the_dialog_shows_what_is_set_and_cancel_leaves_it(desk, qtbot, open_dialog):
    tell(desk, "Be brief.")
    dialog = open_dialog()
    assert dialog.edit.toPlainText() == "Be brief."
    qtbot.keyClicks(dialog.edit, " Not.")
    click(qtbot, dialog.cancel_button)
    assert desk.pane().conversation.system_prompt == saved_prompt(desk) == "Be brief."


def test_the_header_has_a_mark_while_a_prompt_is_set(desk):
    mark = desk.pane().header.prompt_button
    seen = [mark.isVisible()]
    for text in ("Be <b>brief</b>.", " \n"):
        tell(desk, text)
        seen.append(mark.isVisible())
    assert seen == [False, True, False]
    assert mark.accessibleName() == "System prompt"


def test_the_mark_follows_the_chat_that_the_pane_shows(desk):
    tell(desk, "Be brief.")
    desk.window.panes.show_chat(desk.controller.new_chat())
    assert not desk.pane().header.prompt_button.isVisible()


def test_the_mark_opens_the_dialog(desk, qtbot):
    tell(desk, "Be brief.")
    click(qtbot, desk.pane().header.prompt_button)
    assert shown_dialog(desk).edit.toPlainText() == "Be brief."


@pytest.mark.parametrize("way", ["click", "Enter on the button", "accept"])
def test_what_an_input_method_still_composes_is_taken_over(desk, qtbot, open_dialog, way):
    dialog = open_dialog()
    qtbot.keyClicks(dialog.edit, "Say ")
    QApplication.sendEvent(dialog.edit, QInputMethodEvent("\u65e5\u672c", []))
    if way == "click":
        click(qtbot, dialog.ok_button)
    elif way == "accept":
        dialog.accept()
    else:
        qtbot.keyClick(dialog.edit, Qt.Key.Key_Tab)
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert desk.pane().conversation.system_prompt == "Say \u65e5\u672c"


def test_what_is_composed_in_the_composer_stays_when_the_dialog_opens(desk, open_dialog):
    composer = desk.pane().composer.edit
    composer.setFocus()
    QApplication.sendEvent(composer, QInputMethodEvent("\u65e5\u672c", []))
    open_dialog()
    assert composer.toPlainText() == "\u65e5\u672c"


def test_a_disk_that_refuses_leaves_what_was_written_in_the_dialog(desk, qtbot, open_dialog, monkeypatch):
    def refuse(*_arguments):
        raise ChatStoreError("The disk is full.", "Free some space.")

    monkeypatch.setattr(desk.application.store, "set_system_prompt", refuse)
    dialog = open_dialog()
    qtbot.keyClicks(dialog.edit, "Be brief.")
    click(qtbot, dialog.ok_button)
    assert shown_dialog(desk).edit.toPlainText() == "Be brief."
    assert "The disk is full. Free some space." in desk.window.notice.text.text()


def test_a_chat_with_a_prompt_is_kept_when_its_pane_closes(desk):
    tell(desk, "Be brief.")
    chat_id = desk.pane().conversation.chat_id
    desk.window.panes.close_pane(desk.pane())
    assert chat_id in [chat.chat_id for chat in desk.controller.chats()]


def test_a_new_chat_does_not_reuse_a_blank_one_with_a_prompt(desk, qtbot):
    tell(desk, "Be brief.")
    qtbot.keyClick(desk.pane().composer.edit, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert desk.pane().conversation.system_prompt == ""

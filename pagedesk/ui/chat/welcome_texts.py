"""The words of an empty chat: what the model is doing, and questions to begin with.

Plain functions of what the window knows of the engine.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pagedesk.protocol import EnginePhase
from pagedesk.ui.engine_state import EngineState


def heading(state: EngineState) -> str:
    """The title of an empty chat: what the model is doing, and that one may ask."""
    translate = QCoreApplication.translate
    if state.model is None and not state.is_loading and state.status.phase is not EnginePhase.STARTING:
        return translate("welcome", "No model is loaded")
    name = translate("welcome", "Starter model") if state.is_starter else _model_name(state)
    if state.model is None:
        return translate("welcome", "{name} is loading: you can ask already").format(name=name)
    return translate("welcome", "{name} is ready: ask something").format(name=name)


def explanation(state: EngineState, *, is_first_pane: bool) -> str:
    """The sentence under the title."""
    translate = QCoreApplication.translate
    if not is_first_pane:
        return translate("welcome", "Ask here as well: chats side by side write at the same time, on one model.")
    if state.is_starter:
        name = _model_name(state)
        text = translate("welcome", "{name} came with PageDesk. It is small and quick, and runs on this PC alone.")
        return text.format(name=name)
    if state.model is None and not state.is_loading:
        return translate("welcome", "Open a GGUF file from the menu at the top left. Your chats stay here.")
    return translate("welcome", "What you write stays on this PC.")


def suggestions(*, is_first_pane: bool) -> list[str]:
    """Questions to begin with, in two languages."""
    translate = QCoreApplication.translate
    if is_first_pane:
        return [
            translate("welcome", "Explain how a lighthouse lens works"),
            "\u660e\u65e5\u306e\u671d\u3054\u306f\u3093\u306e\u732e\u7acb\u3092\u8003\u3048\u3066",
            translate("welcome", "Write a regular expression for an ISO date"),
        ]
    return [
        translate("welcome", "Name three things to see in Lisbon"),
        "\u5bcc\u58eb\u5c71\u306e\u9ad8\u3055\u3092\u6559\u3048\u3066",
        translate("welcome", "Write a haiku about a slow computer"),
    ]


def _model_name(state: EngineState) -> str:
    if state.model is not None:
        return state.model.name
    return state.loading_path.stem if state.loading_path else QCoreApplication.translate("welcome", "The model")

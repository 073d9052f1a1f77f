"""A chat in the terminal on the same engine as the window: where there is no display, and `pagedesk chat`.

Reads lines from standard input until it ends or the user types /quit; Ctrl+C stops a reply.
"""

from __future__ import annotations

import re
import sys

from pagedesk.commands.client import EngineClient
from pagedesk.commands.progress import LoadProgressLine
from pagedesk.protocol import (
    FinishReason,
    LoadModel,
    Message,
    Overflow,
    Role,
    SamplingParams,
    Submit,
    TextDelta,
    TextPart,
)
from pagedesk.system.errors import UserError

_LOOKS_LIKE_A_COMMAND = re.compile(r"/[a-z]+", re.IGNORECASE)
_ENDS = {
    FinishReason.LENGTH: "[The reply has reached its longest length.]",
    FinishReason.CONTEXT: "[The chat is as long as the model or its memory allows. /new starts over.]",
    FinishReason.CANCELLED: "[Stopped.]",
}
HELP = "Type a message and press Enter. /new starts over, /quit leaves, Ctrl+C stops a reply."


def run(load: LoadModel, system: str | None, sampling: SamplingParams, overflow: Overflow = Overflow.STOP) -> int:
    """Talk until the user leaves; the exit code."""
    with EngineClient() as client:
        progress = LoadProgressLine(quiet=False)
        ready = client.load(load, progress)
        progress.clear()
        print(f"{ready.model.name} on {ready.model.device_name}. {HELP}")
        _Conversation(client, system, sampling, overflow).talk()
    return 0


class _Conversation:
    """The history of one chat, and the loop that extends it."""

    def __init__(self, client: EngineClient, system: str | None, sampling: SamplingParams, overflow: Overflow) -> None:
        self._client = client
        self._opening = (Message.of(Role.SYSTEM, system),) if system else ()
        self._sampling = sampling
        self._overflow = overflow
        self._history = list(self._opening)
        self._num_requests = 0

    def talk(self) -> None:
        while (line := _read_line()) is not None:
            match line.strip():
                case "":
                    continue
                case "/quit":
                    return
                case "/new":
                    self._history = list(self._opening)
                    print("A new chat begins.")
                case text if _LOOKS_LIKE_A_COMMAND.fullmatch(text):
                    print(f"There is no command {text}. {HELP}")
                case text:
                    self._answer(text)

    def _answer(self, text: str) -> None:
        question = Message.of(Role.USER, text)
        self._num_requests += 1
        submit = Submit(
            request_id=f"terminal-{self._num_requests}",
            chat_id="terminal",
            messages=(*self._history, question),
            sampling=self._sampling,
            origin="terminal",
            overflow=self._overflow,
        )
        try:
            (answer,) = self._client.ask(submit, _print_delta)
        except UserError as error:
            print(f"\n{error.cause} {error.advice}")
            return
        print()
        if answer.finish.reason is not FinishReason.STOP:
            print(_ENDS[answer.finish.reason])
        reply = Message(Role.ASSISTANT, (TextPart(answer.text),), tuple(answer.token_ids))
        self._history += [question, reply]


def _read_line() -> str | None:
    """One line from the user; None at the end of input, or where Ctrl+C is pressed twice. The prompt is for people."""
    prompt = "> " if sys.stdin.isatty() else ""
    for _ in range(2):
        try:
            return input(prompt)
        except EOFError:
            return None
        except KeyboardInterrupt:
            print("\nCtrl+C once more, or /quit, leaves.")
    return None


def _print_delta(delta: TextDelta) -> None:
    sys.stdout.write(delta.text)
    sys.stdout.flush()

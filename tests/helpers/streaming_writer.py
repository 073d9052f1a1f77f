"""A process that writes chats the way the window does and reports each thing that it wrote or showed.

Run as `python -m tests.helpers.streaming_writer DATABASE`. A line of its output is one JSON list: `["opening"]`,
`["sent", message id, text]` once a user message is in the store, `["shown", message id, text, seconds]` for a delta.
It goes on until it is killed.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

from pagedesk.chats.models import MessageState
from pagedesk.chats.reply_writer import ReplyWriter
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import Role, TextPart

FLUSH_S = 0.5
TOKEN_S = 0.002
TOKENS_PER_REPLY = 900


class StreamingWriter:
    """Two chats whose replies grow at the same time, with a user message before each reply."""

    def __init__(self, path: Path) -> None:
        report("opening")
        self._store = ChatStore(path)
        self._writer = ReplyWriter(self._store)
        self._chat_ids = [self._store.create_chat(title).chat_id for title in ("left", "right")]
        self._flushed_at = time.monotonic()

    def talk_forever(self) -> None:
        while True:
            replies = [self._ask(chat_id) for chat_id in self._chat_ids]
            for token_id in range(TOKENS_PER_REPLY):
                self._stream(replies, token_id)
            for reply_id in replies:
                self._writer.finish(reply_id, MessageState.DONE)

    def _ask(self, chat_id: str) -> str:
        text = f"question at {time.monotonic()}"
        sent = self._store.add_message(chat_id, Role.USER, [TextPart(text)])
        report("sent", sent.message_id, text)
        return self._store.add_message(chat_id, Role.ASSISTANT, [], MessageState.WRITING).message_id

    def _stream(self, replies: list[str], token_id: int) -> None:
        for reply_id in replies:
            self._writer.note(reply_id, f"w{token_id} ", [token_id])
            report("shown", reply_id, f"w{token_id} ", time.monotonic())
        if time.monotonic() - self._flushed_at >= FLUSH_S:
            self._writer.flush()
            self._flushed_at = time.monotonic()
        threading.Event().wait(TOKEN_S)  # the pace of the engine


def report(*fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    StreamingWriter(Path(sys.argv[1])).talk_forever()

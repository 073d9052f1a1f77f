"""Nothing is lost: the whole program, killed ten times while two replies stream, finds everything again."""

import json
import random
import shutil
import sqlite3
import time
from collections import deque
from contextlib import closing

import pytest

from pagedesk.chats.codec import decode_parts
from tests.helpers.driven_window import DrivenWindow, reply_of
from tests.helpers.xserver import x_server

pytestmark = pytest.mark.e2e

NUM_KILLS = 10
LONGEST_S = 3.0
QUESTIONS = ("Write a long story about the sea.", "Explain a steam engine in many steps.")


class Witness:
    """What a user saw: every message that was sent, and the replies of the two panes at each look."""

    def __init__(self):
        self.sent = []
        self._looks = deque()

    def watch(self, window, until):
        while time.monotonic() < until:
            state = window.wait(lambda state: state["panes"], "a look at the window")
            self._looks.append((time.monotonic(), [reply_of(pane) for pane in state["panes"]]))
            self.sent += [text for pane in state["panes"] for role, _, text, _ in pane["messages"] if role == "user"]

    def replies_before(self, moment):
        """The newest replies that were seen before a moment."""
        seen = [replies for when, replies in self._looks if when < moment]
        return seen[-1] if seen else ["", ""]


def saved_after_a_kill(home, folder):
    """Role and text of every message, by chat; read from a copy, so that the program finds what the kill left."""
    shutil.copytree(home / "data", folder)
    with closing(sqlite3.connect(folder / "chats.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute("SELECT chat_id, role, parts FROM messages ORDER BY message_index").fetchall()
    saved = {}
    for chat_id, role, parts in rows:
        saved.setdefault(chat_id, []).append((role, "".join(part.text for part in decode_parts(parts))))
    return saved


def run_until_killed(server, folder, after_s, expected):
    """One run: two questions, and the kill so many seconds after both replies began."""
    witness = Witness()
    with DrivenWindow(server, folder, "--dtype", "bfloat16") as window:
        state = window.wait_until_ready()
        for pane in state["panes"]:
            assert [(role, text) for role, _, text, _ in pane["messages"]] == expected.get(pane["chat_id"], [])
        for index, question in enumerate(QUESTIONS):
            window.write_in(index, question)
        state = window.wait(lambda state: all(map(reply_of, state["panes"])), "both replies to begin")
        witness.watch(window, time.monotonic() + after_s)
        killed_at = time.monotonic()
        window.kill()
    return [pane["chat_id"] for pane in state["panes"]], witness, killed_at


def test_ten_kills_at_random_moments_lose_no_message_and_at_most_a_second_of_a_reply(tmp_path):
    moments = random.Random(16)
    saved = {}
    with x_server() as server:
        for number in range(NUM_KILLS):
            after_s = moments.uniform(0.0, LONGEST_S)
            chat_ids, witness, killed_at = run_until_killed(server, tmp_path, after_s, saved)

            saved = saved_after_a_kill(tmp_path / "home", tmp_path / f"kill_{number}")

            texts = [text for messages in saved.values() for role, text in messages if role == "user"]
            assert texts.count(QUESTIONS[0]) == texts.count(QUESTIONS[1]) == number + 1
            assert set(witness.sent) <= set(texts)
            for chat_id, shown in zip(chat_ids, witness.replies_before(killed_at - 1.0), strict=True):
                role, text = saved[chat_id][-1]
                assert role == "assistant"
                assert text.startswith(shown), json.dumps([number, after_s, text, shown])

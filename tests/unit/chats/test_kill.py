"""Nothing is lost: a program that is killed while replies stream keeps what was sent and all but the last second."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from pagedesk.chats.models import MessageState, StoredMessage
from pagedesk.chats.store import ChatStore

ROOT = Path(__file__).resolve().parents[3]
# In lines of the writer's report: while it opens the file, at its first messages, then anywhere in three seconds.
MOMENTS = [1, 2, *random.Random(16).sample(range(3, 2700), 8)]


def killed_after(num_lines: int, path: Path) -> list[list[Any]]:
    """Kill -9 a writer once it has reported so many lines; everything that it reported."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.streaming_writer", str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = list(islice(process.stdout, num_lines))
        process.kill()
        lines += process.stdout.readlines()
    return [json.loads(line) for line in lines if line.endswith("\n")]


def all_messages(path: Path) -> dict[str, StoredMessage]:
    store = ChatStore(path)
    assert store.recovery is None
    found = {message.message_id: message for chat in store.chats() for message in store.messages(chat.chat_id)}
    store.close()
    return found


def shown_before(reports: list[list[Any]], last_second: float) -> dict[str, str]:
    """The text of each reply without what was shown in the last second."""
    end = max((report[3] for report in reports if report[0] == "shown"), default=0.0)
    texts: dict[str, str] = {}
    for report in reports:
        if report[0] == "shown" and report[3] < end - last_second:
            texts[report[1]] = texts.get(report[1], "") + report[2]
    return texts


def test_ten_kills_at_random_moments_lose_no_message_and_at_most_a_second_of_a_reply(path: Path) -> None:
    sent: dict[str, str] = {}
    for moment in MOMENTS:
        reports = killed_after(moment, path)
        sent |= {report[1]: report[2] for report in reports if report[0] == "sent"}

        stored = all_messages(path)

        assert {message_id: stored[message_id].text for message_id in sent} == sent
        for reply_id, text in shown_before(reports, last_second=1.0).items():
            assert stored[reply_id].text.startswith(text)
        assert all(message.state is not MessageState.WRITING for message in stored.values())

"""The whole program on a real X server with the starter model: two chats talk side by side."""

import os
import time
from pathlib import Path

import pytest

from tests.helpers.driven_window import DrivenWindow, reply_of
from tests.helpers.xserver import x_server

pytestmark = pytest.mark.e2e

LONG = "Write a long story about a lighthouse keeper and the sea."
LONG_TOO = "Explain how a steam engine works, in many steps."


@pytest.fixture(scope="module")
def server():
    with x_server() as running:
        yield running


@pytest.fixture
def pictures(tmp_path):
    """Where screenshots go: PAGEDESK_PICTURES names a folder to keep them."""
    folder = Path(os.environ.get("PAGEDESK_PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def window(server, tmp_path):
    with DrivenWindow(server, tmp_path) as running:
        running.wait_until_ready()
        yield running


def both_replies(state):
    return [reply_of(pane) for pane in state["panes"]]


def both_grew(state, earlier):
    pairs = zip(both_replies(state), both_replies(earlier), strict=True)
    return all(len(now) > len(then) for now, then in pairs)


def test_two_panes_stream_in_the_same_second_and_one_is_stopped(window, pictures):
    window.write_in(0, LONG)
    window.write_in(1, LONG_TOO)
    first = window.wait(lambda state: all(both_replies(state)), "both replies to begin")

    started = time.monotonic()
    grown = window.wait(
        lambda state: both_grew(state, first),
        "both replies to grow",
    )
    assert time.monotonic() - started < 1.0

    window.wait(lambda state: min(map(len, both_replies(state))) > 400, "replies long enough for a picture")
    window.server.screenshot(pictures / "two_chats.png")
    window.press_button(0)
    stopped = window.wait(lambda state: state["panes"][0]["activity"] == "IDLE", "the first reply to stop")
    assert stopped["panes"][0]["messages"][-1][1] == "STOPPED"
    kept = reply_of(stopped["panes"][0])
    assert kept.startswith(reply_of(grown["panes"][0])[:20])

    window.wait(
        lambda state: len(reply_of(state["panes"][1])) > len(reply_of(stopped["panes"][1])), "the second reply to go on"
    )
    assert reply_of(window.state()["panes"][0]) == kept


def test_the_numbers_on_the_gauge_equal_the_counters_of_the_engine(window):
    window.write_in(0, LONG)
    seen = 0
    while seen < 10:
        state = window.wait(lambda state: state["pool"] and state["pool"]["num_running"] == 1, "a running chat")
        figures, pool = state["figures"], state["pool"]
        for name in ("num_blocks", "num_owned", "num_shared", "num_cached", "num_free", "saved_bytes"):
            assert figures[name] == pool[name], name
        assert figures["weights_bytes"] == pool["weights_bytes"]
        assert figures["workspace_bytes"] == pool["workspace_bytes"]
        for kind in ("owned", "shared", "cached", "free"):
            assert figures[f"pool_{kind}_bytes"] == pool[f"num_{kind}"] * pool["block_bytes"], kind
        assert figures["running"] == pool["num_running"]
        assert figures["waiting"] == pool["num_waiting"]
        seen += 1


def test_closing_in_mid_generation_ends_with_0_and_leaves_no_thread(window):
    window.write_in(0, LONG)
    window.write_in(1, LONG_TOO)
    window.wait(lambda state: all(both_replies(state)), "both replies to begin")

    started = time.monotonic()
    assert window.close() == 0
    assert time.monotonic() - started < 3.0
    assert window.state() == {"ended": True, "threads": []}


def test_chats_and_panes_come_back_at_the_next_start(server, tmp_path):
    with DrivenWindow(server, tmp_path) as first:
        first.wait_until_ready()
        first.write_in(0, "Name one colour.")
        first.wait(lambda state: reply_of(state["panes"][0]) and state["panes"][0]["activity"] == "IDLE", "a reply")
        before = first.state()
        first.close()

    with DrivenWindow(server, tmp_path) as second:
        after = second.wait_until_ready()

    assert next(pane["chat_id"] for pane in after["panes"]) == before["panes"][0]["chat_id"]
    assert after["panes"][0]["messages"] == before["panes"][0]["messages"]

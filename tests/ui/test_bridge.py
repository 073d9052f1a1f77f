import threading
from collections.abc import Callable

import pytest

from pagedesk.bridge import EngineBridge, join_events
from pagedesk.protocol import (
    EnginePhase,
    EngineStatus,
    Event,
    Failed,
    FinishReason,
    PoolSnapshot,
    Started,
    TextDelta,
)
from tests.helpers.fake_engine import ScriptedEngine, finished, snapshot


def delta(request_id: str, text: str, *token_ids: int) -> TextDelta:
    return TextDelta(request_id, 0, text, token_ids)


class BurstEngine(ScriptedEngine):
    """On start, posts from a thread of its own: deltas of two requests in turn, and a snapshot after each."""

    num_deltas = 4000

    def start(self) -> None:
        super().start()
        self.thread = threading.Thread(target=self._burst)
        self.thread.start()

    def _burst(self) -> None:
        for index in range(self.num_deltas):
            self.publish(delta("ab"[index % 2], f"{index} ", index))
            self.publish(snapshot("chat", step_index=index, num_blocks=16))
        self.publish(finished("a"))
        self.publish(finished("b"))


class Listener:
    """Notes what a bridge delivers, and on which thread."""

    def __init__(self, bridge: EngineBridge) -> None:
        self.deltas: list[TextDelta] = []
        self.snapshots: list[PoolSnapshot] = []
        self.finished: list[str] = []
        self.threads: set[int] = set()
        bridge.text_delta.connect(self.deltas.append)
        bridge.pool_changed.connect(self.snapshots.append)
        bridge.request_finished.connect(self._on_finished)

    def _on_finished(self, event) -> None:
        self.finished.append(event.request_id)
        self.threads.add(threading.get_ident())

    def text(self, request_id: str) -> str:
        return "".join(d.text for d in self.deltas if d.request_id == request_id)


def test_neighbouring_deltas_of_one_answer_are_joined_across_other_requests():
    events: list[Event] = [delta("a", "x", 1), delta("b", "y", 2), delta("a", "z", 3)]
    assert join_events(events) == [delta("a", "xz", 1, 3), delta("b", "y", 2)]


def test_answers_of_one_request_are_joined_each_for_itself():
    events: list[Event] = [TextDelta("a", 0, "x", (1,)), TextDelta("a", 1, "y", (2,)), TextDelta("a", 0, "z", (3,))]
    assert join_events(events) == [TextDelta("a", 0, "xz", (1, 3)), TextDelta("a", 1, "y", (2,))]


def test_text_never_moves_across_the_other_events_of_its_request():
    events: list[Event] = [
        Started("a", 1, 0),
        delta("a", "x", 1),
        finished("a"),
        delta("a", "y", 2),
        delta("a", "z", 3),
    ]
    assert join_events(events) == [Started("a", 1, 0), delta("a", "x", 1), finished("a"), delta("a", "yz", 2, 3)]


def test_only_the_newest_snapshot_is_kept():
    events: list[Event] = [snapshot(step_index=1), EngineStatus(EnginePhase.READY), snapshot(step_index=2)]
    assert join_events(events) == [EngineStatus(EnginePhase.READY), snapshot(step_index=2)]


@pytest.mark.parametrize("phase", [EnginePhase.LOADING, EnginePhase.EMPTY, EnginePhase.STOPPED])
def test_a_snapshot_of_a_pool_that_was_given_up_since_is_left_out(phase):
    assert join_events([snapshot(step_index=1), EngineStatus(phase)]) == [EngineStatus(phase)]


def make(engine_type: Callable[..., ScriptedEngine]) -> tuple[EngineBridge, ScriptedEngine]:
    engines: list[ScriptedEngine] = []

    def build(publish: Callable[[Event], None]) -> ScriptedEngine:
        engines.append(engine_type(publish))
        return engines[0]

    return EngineBridge(build), engines[0]


def test_a_burst_from_another_thread_arrives_whole_in_few_deliveries_on_the_gui_thread(qtbot):
    bridge, engine = make(BurstEngine)
    listener = Listener(bridge)
    bridge.start()
    qtbot.waitUntil(lambda: listener.finished == ["a", "b"])
    engine.thread.join()
    assert listener.text("a") == "".join(f"{i} " for i in range(0, BurstEngine.num_deltas, 2))
    assert listener.text("b") == "".join(f"{i} " for i in range(1, BurstEngine.num_deltas, 2))
    assert len(listener.deltas) < BurstEngine.num_deltas / 10
    assert listener.snapshots[-1].step_index == BurstEngine.num_deltas - 1
    assert listener.threads == {threading.get_ident()}


@pytest.mark.usefixtures("qapp")
def test_stopping_delivers_what_the_engine_said_last():
    bridge, engine = make(ScriptedEngine)
    listener = Listener(bridge)
    bridge.start()
    engine.publish(finished("a", reason=FinishReason.CANCELLED))
    assert bridge.stop(1.0)
    assert listener.finished == ["a"]


@pytest.mark.usefixtures("qapp")
def test_a_bridge_that_never_started_stops_at_once():
    bridge, engine = make(ScriptedEngine)
    assert bridge.stop(1.0)
    assert engine.sent == []


@pytest.mark.usefixtures("qapp")
def test_commands_sent_before_the_start_reach_the_engine():
    bridge, engine = make(ScriptedEngine)
    command = object()
    bridge.send(command)
    bridge.start()
    assert engine.sent == [command]


def test_a_failure_is_delivered_as_it_is(qtbot):
    bridge, engine = make(ScriptedEngine)
    failures: list[Failed] = []
    bridge.request_failed.connect(failures.append)
    engine.publish(Failed("a", "It broke.", "Try again."))
    qtbot.waitUntil(lambda: len(failures) == 1)
    assert failures == [Failed("a", "It broke.", "Try again.")]

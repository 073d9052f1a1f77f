"""Engines for tests of the window: one that says what the test tells it to, one that streams words on a thread."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from pagedesk.protocol import (
    BlockState,
    Cancel,
    ChatBlocks,
    Command,
    DType,
    EnginePhase,
    EngineStatus,
    Event,
    Finished,
    FinishReason,
    LoadModel,
    MemoryUse,
    ModelInfo,
    ModelReady,
    PoolSnapshot,
    Shutdown,
    Started,
    Submit,
    TextDelta,
    Timings,
    Usage,
)

GIB = 2**30


class ScriptedEngine:
    """Keeps what it was sent; publishes what the test gives it, on the test's thread."""

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self.publish = publish
        self.sent: list[Command] = []
        self.is_alive = False

    def start(self) -> None:
        self.is_alive = True

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def stop(self, timeout_s: float) -> bool:
        assert timeout_s > 0
        self.send(Shutdown())
        self.is_alive = False
        return True

    def submits(self) -> list[Submit]:
        return [command for command in self.sent if isinstance(command, Submit)]


class StreamingEngine:
    """A thread that answers every request with `words`, a token each `token_s` seconds, all requests at once."""

    def __init__(self, publish: Callable[[Event], None], words: str = "one two three ", token_s: float = 0.002) -> None:
        self._publish = publish
        self._words = words.split(" ")
        self._token_s = token_s
        self._commands: SimpleQueue[Command] = SimpleQueue()
        self._streams: dict[str, _Stream] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._is_over = False
        self._shown_at = 0.0

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def send(self, command: Command) -> None:
        self._commands.put(command)

    def stop(self, timeout_s: float) -> bool:
        self.send(Shutdown())
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        self._publish(EngineStatus(EnginePhase.STARTING))
        for step_index in itertools.count():
            self._obey()
            if self._is_over:
                break
            for stream in list(self._streams.values()):
                self._step(stream)
            self._show_pool(step_index)
        self._publish(EngineStatus(EnginePhase.STOPPED))

    def _show_pool(self, step_index: int) -> None:
        """As the engine does: at most ten times a second."""
        if time.monotonic() - self._shown_at > 0.1:
            self._shown_at = time.monotonic()
            self._publish(snapshot(*(stream.chat_id for stream in self._streams.values()), step_index=step_index))

    def _obey(self) -> None:
        until = time.monotonic() + self._token_s
        while (left := until - time.monotonic()) > 0:
            try:
                self._take(self._commands.get(timeout=left))
            except Empty:
                return

    def _take(self, command: Command) -> None:
        if isinstance(command, LoadModel):
            self._publish(EngineStatus(EnginePhase.LOADING, "weights", 1, 2))
            self._publish(model_ready(command.path))
            self._publish(EngineStatus(EnginePhase.READY))
        elif isinstance(command, Submit):
            self._streams[command.request_id] = _Stream(command.request_id, command.chat_id)
            self._publish(Started(command.request_id, 40, 16))
        elif isinstance(command, Cancel) and command.request_id in self._streams:
            self._end(self._streams[command.request_id], FinishReason.CANCELLED)
        elif isinstance(command, Shutdown):
            for stream in list(self._streams.values()):
                self._end(stream, FinishReason.CANCELLED)
            self._is_over = True

    def _step(self, stream: _Stream) -> None:
        if stream.num_tokens == len(self._words):
            self._end(stream, FinishReason.STOP)
            return
        word = self._words[stream.num_tokens]
        stream.num_tokens += 1
        self._publish(TextDelta(stream.request_id, 0, f"{word} ", (stream.num_tokens,)))

    def _end(self, stream: _Stream, reason: FinishReason) -> None:
        del self._streams[stream.request_id]
        self._publish(finished(stream.request_id, num_tokens=stream.num_tokens, reason=reason))


class _Stream:
    def __init__(self, request_id: str, chat_id: str) -> None:
        self.request_id = request_id
        self.chat_id = chat_id
        self.num_tokens = 0


def model_ready(path: str = "/models/small.gguf", name: str = "Small 1B", max_model_len: int = 8192) -> ModelReady:
    info = ModelInfo(name, path, "llama", "Q4_1", 98_362_432, 134_000_000, max_model_len, DType.FLOAT32, "CPU", "torch")
    return ModelReady(info, memory())


def memory(num_blocks: int = 600, block_bytes: int = 737_280) -> MemoryUse:
    return MemoryUse(
        device_name="CPU",
        total_bytes=8 * GIB,
        others_bytes=GIB,
        budget_bytes=2 * GIB,
        weights_bytes=GIB // 4,
        workspace_bytes=GIB // 16,
        pool_bytes=num_blocks * block_bytes,
        headroom_bytes=GIB // 2,
    )


def finished(request_id: str, num_tokens: int = 12, reason: FinishReason = FinishReason.STOP) -> Finished:
    usage = Usage(prompt_tokens=40, cached_tokens=16, completion_tokens=num_tokens, first_missed_index=16)
    timings = Timings(wait_ms=0.0, prefill_ms=20.0, ttft_ms=20.0, decode_ms=100.0, decode_tokens_per_s=72.0)
    return Finished(request_id, 0, reason, usage, timings)


def snapshot(*chat_ids: str, step_index: int = 1, num_waiting: int = 0, num_blocks: int = 600) -> PoolSnapshot:
    """A pool in which each chat owns ten blocks."""
    owned = min(num_blocks, 10 * len(chat_ids))
    states = bytes([BlockState.OWNED] * owned + [BlockState.FREE] * (num_blocks - owned))
    indices = [index // 10 if index < owned else 0xFFFF for index in range(num_blocks)]
    nobody = b"\xff\xff" * num_blocks
    return PoolSnapshot(
        block_size=16,
        block_bytes=737_280,
        states=states,
        owners=b"".join(index.to_bytes(2, "little") for index in indices),
        second_owners=nobody,
        num_owners=bytes([1] * owned + [0] * (num_blocks - owned)),
        ref_counts=bytes([1] * owned + [0] * (num_blocks - owned)),
        chats=tuple(ChatBlocks(chat_id, 10, 0, 0) for chat_id in chat_ids),
        num_owned=owned,
        num_shared=0,
        num_cached=0,
        num_free=num_blocks - owned,
        peak_held_blocks=owned,
        peak_shared_blocks=0,
        num_copied_blocks=0,
        saved_bytes=0,
        num_running=len(chat_ids),
        num_waiting=num_waiting,
        step_index=step_index,
        step_ms=12.8,
        prompt_tokens=9,
        cached_prompt_tokens=91,
        generated_tokens=5,
        memory=memory(num_blocks),
    )

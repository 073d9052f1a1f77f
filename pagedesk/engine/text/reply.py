"""One answer as it is written: its text, its tokens and its moments.

Engine thread only.
"""

from __future__ import annotations

from collections.abc import Sequence

from pagedesk.engine.text.detokenizer import Detokenizer
from pagedesk.engine.text.stop_strings import StopStrings
from pagedesk.protocol import Event, Finished, FinishReason, MissReason, TextDelta, Timings, Usage


class Reply:
    """Turns the tokens of one answer into events.

    Args:
        request_id: Whose answer it is.
        answer_index: Which of its answers.
        prompt_tokens: Length of the prompt.
        detokenizer: Fresh, for this answer alone.
        arrived_s: When the request came in, by the engine's clock.
        stops: Texts that end it.

    Attributes:
        is_ended: Whether its last event was made.
    """

    def __init__(
        self,
        request_id: str,
        answer_index: int,
        prompt_tokens: int,
        detokenizer: Detokenizer,
        arrived_s: float,
        stops: Sequence[str] = (),
    ) -> None:
        self.is_ended = False
        self._request_id = request_id
        self._answer_index = answer_index
        self._prompt_tokens = prompt_tokens
        self._detokenizer = detokenizer
        self._stops = StopStrings(stops)
        self._arrived_s = arrived_s
        self._started_s: float | None = None
        self._first_s: float | None = None
        self._last_s: float | None = None
        self._cached_tokens = 0
        self._miss_reason: MissReason | None = None
        self._num_tokens = 0

    def start(self, now_s: float, cached_tokens: int, miss_reason: MissReason | None) -> None:
        """The request got its turn."""
        self._started_s = now_s
        self._cached_tokens = cached_tokens
        self._miss_reason = miss_reason

    def add(self, token_id: int, now_s: float, reason: FinishReason | None) -> list[Event]:
        """The answer got a token, its last one if there is a reason or its text has come to a stop."""
        self._num_tokens += 1
        self._first_s = now_s if self._first_s is None else self._first_s
        self._last_s = now_s
        text, is_stopped = self._stops.add(self._detokenizer.add(token_id))
        if is_stopped:
            reason = FinishReason.STOP
        elif reason is not None:
            text += self._stops.flush()
        delta = self._delta(text, (token_id,))
        return [delta] if reason is None else [delta, self._finished(reason, now_s)]

    def end(self, now_s: float, reason: FinishReason) -> list[Event]:
        """The answer ends without a further token."""
        rest = self._stops.flush()
        return [*([self._delta(rest, ())] if rest else []), self._finished(reason, now_s)]

    def _delta(self, text: str, token_ids: tuple[int, ...]) -> TextDelta:
        return TextDelta(self._request_id, self._answer_index, text, token_ids)

    def _finished(self, reason: FinishReason, now_s: float) -> Finished:
        self.is_ended = True
        cached = self._cached_tokens
        usage = Usage(self._prompt_tokens, cached, self._num_tokens, cached, self._miss_reason)
        return Finished(self._request_id, self._answer_index, reason, usage, self._timings(now_s))

    def _timings(self, now_s: float) -> Timings:
        """What did not happen yet is taken to happen now, so that an answer that was cut off has true times."""
        started = now_s if self._started_s is None else self._started_s
        first = now_s if self._first_s is None else self._first_s
        decode_s = 0.0 if self._last_s is None else self._last_s - first
        rate = (self._num_tokens - 1) / decode_s if self._num_tokens > 1 and decode_s > 0 else 0.0
        return Timings(
            wait_ms=1e3 * (started - self._arrived_s),
            prefill_ms=1e3 * (first - started),
            ttft_ms=1e3 * (first - self._arrived_s),
            decode_ms=1e3 * decode_s,
            decode_tokens_per_s=rate,
        )

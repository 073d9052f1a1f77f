"""The engine: chats in, events out, one step at a time.

One thread, the one that made it. Knows neither who asks nor who reads; the runner computes, the scheduler decides, the
text side speaks with people. Whatever one request does, the others go on.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.scheduling.kv_cache_manager import KVCacheManager
from pagedesk.engine.scheduling.outcome import StepOutcome
from pagedesk.engine.scheduling.pool_use import PoolUse
from pagedesk.engine.scheduling.request import SEED_LIMIT, Request, RequestSpec
from pagedesk.engine.scheduling.request_check import check_submit
from pagedesk.engine.scheduling.sampling_check import SamplingLimits
from pagedesk.engine.scheduling.scheduler import Scheduler
from pagedesk.engine.scheduling.step_budget import StepBudget
from pagedesk.engine.text.chat_dates import ChatDates
from pagedesk.engine.text.chat_memory import ChatMemory
from pagedesk.engine.text.detokenizer import Detokenizer
from pagedesk.engine.text.overflow import FittedPrompt, drop_oldest, room_for_reply
from pagedesk.engine.text.prompt import PromptBuilder, prompt_builder
from pagedesk.engine.text.reply import Reply
from pagedesk.protocol import (
    BlockState,
    Event,
    Failed,
    FinishReason,
    MemoryUse,
    MissReason,
    ModelInfo,
    Overflow,
    PoolSnapshot,
    Started,
    Submit,
    TurnsDropped,
    Waiting,
)

if TYPE_CHECKING:
    from pagedesk.engine.model_runner import LoadedModel

_PATIENCE_S = 30.0
_PATIENCE_STEPS = 10
_FIRST_STEP_PATIENCE_S = 120.0
"""The first step of a model loads code, and compiles kernels on a card that it has not met before."""

_log = logging.getLogger(__name__)


class Engine:
    """Serves requests on one loaded model.

    Args:
        model: Loaded; the engine closes it.
        prompts: Builds prompts for it.
        config: How it was loaded.
        clock: Seconds that only grow.

    Attributes:
        info: The model as shown to the user.
    """

    def __init__(
        self,
        model: LoadedModel,
        prompts: PromptBuilder,
        config: EngineConfig,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.info = model.info
        self._model = model
        self._prompts = prompts
        self._config = config
        self._clock = clock
        self._manager, self._scheduler = self._fresh_scheduler()
        self._replies: dict[str, tuple[Reply, ...]] = {}
        self._chat_dates = ChatDates()
        self._chats = ChatMemory()
        self._focus: str | None = None
        self._step_index = 0
        self._step_ms = 0.0

    @property
    def memory(self) -> MemoryUse:
        """Where the device's memory is now."""
        return self._model.meter.read()

    @property
    def has_work(self) -> bool:
        """Whether `step` would compute anything."""
        return self._scheduler.has_work

    @property
    def patience_s(self) -> float:
        """How long a step may take before something must be wrong."""
        expected_s = self._scheduler.longest_step_ms / 1e3
        first_s = _FIRST_STEP_PATIENCE_S if self._step_index == 0 else 0.0
        return max(_PATIENCE_S, _PATIENCE_STEPS * expected_s, first_s)

    def is_under_way(self, request_id: str) -> bool:
        """Whether a request of this name has not ended."""
        return request_id in self._replies

    def add(self, submit: Submit, arrived_s: float | None = None) -> list[Event]:
        """Take in a request; most of its events come from `step`.

        Args:
            submit: What is asked.
            arrived_s: When it was sent, by the engine's clock; None: now.

        Returns:
            What there is to tell of it at once.

        Raises:
            InvalidRequestError: Values out of range, or a prompt that is too long.
            TemplateError: The model's chat template fails on these messages.
        """
        arrived_s = self._clock() if arrived_s is None else arrived_s
        limits = SamplingLimits(len(self._prompts.table), self.info.max_model_len)
        check_submit(submit, self._config.max_num_sequences, limits)
        prompt = self._prompt(submit)
        self._scheduler.add(self._spec(submit, prompt))
        strips_space = self._prompts.strips_space and not submit.raw
        self._replies[submit.request_id] = tuple(
            Reply(
                submit.request_id,
                index,
                len(prompt.prompt_ids),
                Detokenizer(self._prompts.table, strip_space=strips_space),
                arrived_s,
                submit.sampling.stop,
            )
            for index in range(submit.num_answers)
        )
        return _dropped(submit, prompt)

    def cancel(self, request_id: str, reason: FinishReason = FinishReason.CANCELLED) -> list[Event]:
        """End a request now; an unknown one is ignored."""
        open_indices = self._scheduler.abort(request_id)
        replies = self._replies.pop(request_id, ())
        now_s = self._clock()
        return [event for index in open_indices for event in replies[index].end(now_s, reason)]

    def set_focus(self, chat_id: str | None) -> None:
        """Serve this chat first when not all can be."""
        self._focus = chat_id
        self._scheduler.set_focus(chat_id)

    def step(self) -> list[Event]:
        """Compute one step; a fault in it ends the requests that it belongs to and no other."""
        began_s = self._clock()
        try:
            events = self._step(began_s)
        except Exception as error:  # noqa: BLE001 - whatever it is, the engine must go on
            _log.exception("the scheduler lost its way; all requests end and the cache is emptied")
            events = self._start_over(error)
        self._step_index += 1
        self._step_ms = 1e3 * (self._clock() - began_s)
        return events

    def snapshot(self) -> PoolSnapshot:
        """The pool and the counters now; costs a copy of seven bytes a block."""
        pool_map, scheduler = self._manager.pool.map, self._scheduler
        in_state = pool_map.num_in_state
        return PoolSnapshot(
            block_size=self._config.block_size,
            block_bytes=self._model.block_bytes,
            states=pool_map.states(),
            owners=pool_map.owners(),
            second_owners=pool_map.second_owners(),
            num_owners=pool_map.num_owners(),
            ref_counts=pool_map.ref_counts(),
            chats=pool_map.tally.counts(),
            num_owned=in_state[BlockState.OWNED],
            num_shared=in_state[BlockState.SHARED],
            num_cached=in_state[BlockState.CACHED],
            num_free=in_state[BlockState.FREE],
            peak_held_blocks=pool_map.peak_held,
            peak_shared_blocks=pool_map.peak_shared,
            num_copied_blocks=self._manager.num_copied_blocks,
            saved_bytes=pool_map.num_spared * self._model.block_bytes,
            num_running=scheduler.num_running,
            num_waiting=scheduler.num_waiting,
            step_index=self._step_index,
            step_ms=self._step_ms,
            prompt_tokens=scheduler.prompt_tokens,
            cached_prompt_tokens=scheduler.cached_prompt_tokens,
            generated_tokens=scheduler.generated_tokens,
            memory=self.memory,
        )

    def pool_use(self) -> PoolUse:
        """What the pool is used for now; cheaper than a snapshot."""
        return self._scheduler.pool_use()

    def close(self, reason: FinishReason = FinishReason.CANCELLED) -> list[Event]:
        """End every request for `reason` and give the model's memory back; nothing may be called after it."""
        events = [event for request_id in list(self._replies) for event in self.cancel(request_id, reason)]
        try:
            self._model.runner.close()
        except Exception:  # noqa: BLE001 - a device that failed may refuse even this; the requests still end
            _log.exception("the memory of the model could not be given back")
        return events

    def _step(self, began_s: float) -> list[Event]:
        plan = self._scheduler.schedule()
        try:
            result = self._model.runner.run(plan)
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to this step alone
            _log.exception("a step failed")
            return self._fail(self._scheduler.fail(plan), _describe(error))
        self._scheduler.note_time(plan, 1e3 * (self._clock() - began_s))
        return self._events(self._scheduler.update(plan, result), began_s)

    def _events(self, outcome: StepOutcome, began_s: float) -> list[Event]:
        now_s = self._clock()
        events: list[Event] = [self._started(request, began_s) for request in outcome.started]
        events += [
            Waiting(wait.request.spec.request_id, wait.needed_blocks, wait.available_blocks) for wait in outcome.waiting
        ]
        for advance in outcome.advances:
            reply = self._replies[advance.request.spec.request_id][advance.answer_index]
            events += reply.add(advance.token_id, now_s, advance.finish)
            if reply.is_ended:
                self._scheduler.end_answer(advance.request, advance.answer_index)
        self._forget_ended(advance.request for advance in outcome.advances)
        return events + self._fail(outcome.faulted, "The model computed values that are not numbers.")

    def _started(self, request: Request, now_s: float) -> Started:
        spec, cached_tokens = request.spec, request.cached_tokens or 0
        for reply in self._replies[spec.request_id]:
            reply.start(now_s, cached_tokens, _miss_reason(request))
        return Started(spec.request_id, len(spec.prompt_ids), cached_tokens)

    def _forget_ended(self, requests: Iterable[Request]) -> None:
        for request in requests:
            if request.is_ended:
                self._replies.pop(request.spec.request_id, None)

    def _fail(self, requests: Iterable[Request], cause: str) -> list[Event]:
        request_ids = [request.spec.request_id for request in requests]
        for request_id in request_ids:
            del self._replies[request_id]
        return [
            Failed(request_id, cause, "Send it again; if it fails again, load the model anew.")
            for request_id in request_ids
        ]

    def _start_over(self, error: Exception) -> list[Event]:
        request_ids = list(self._replies)
        self._replies.clear()
        lost_manager, lost_scheduler = self._manager, self._scheduler
        self._manager, self._scheduler = self._fresh_scheduler()
        self._manager.count_on(lost_manager)
        self._scheduler.count_on(lost_scheduler)
        self._scheduler.set_focus(self._focus)
        return [Failed(request_id, _describe(error), "Send it again.") for request_id in request_ids]

    def _prompt(self, submit: Submit) -> FittedPrompt:
        prompt = self._fit(submit)
        num_tokens, max_tokens = len(prompt.prompt_ids), self.info.max_model_len
        if not num_tokens:
            raise InvalidRequestError("The prompt has no tokens.", "Write something first.")
        if num_tokens >= max_tokens:
            raise InvalidRequestError(
                f"The prompt is {num_tokens:,} tokens, this model takes at most {max_tokens:,} with the answer.",
                "Shorten the message, or start a new chat.",
            )
        return prompt

    def _fit(self, submit: Submit) -> FittedPrompt:
        build = (
            self._prompts.raw if submit.raw else partial(self._prompts.chat, now=self._chat_dates.of(submit.chat_id))
        )
        if submit.overflow is Overflow.STOP:
            return FittedPrompt(build(submit.messages), submit.messages)
        context = self._scheduler.max_len
        return drop_oldest(submit.messages, build, context - room_for_reply(context, submit.sampling.max_tokens))

    def _spec(self, submit: Submit, prompt: FittedPrompt) -> RequestSpec:
        seed = secrets.randbelow(SEED_LIMIT) if submit.sampling.seed is None else submit.sampling.seed
        return RequestSpec(
            request_id=submit.request_id,
            chat_id=submit.chat_id,
            prompt_ids=tuple(prompt.prompt_ids),
            params=replace(submit.sampling, seed=seed),
            seed=seed,
            stop_ids=frozenset() if submit.sampling.ignore_eos else self._prompts.stop_ids,
            num_answers=submit.num_answers,
            priority=submit.priority,
            is_unedited=not submit.raw and self._chats.note_request(submit.chat_id, prompt.messages),
            table=self._prompts.table,
        )

    def _fresh_scheduler(self) -> tuple[KVCacheManager, Scheduler]:
        config = self._config
        manager = KVCacheManager(
            self._model.num_blocks,
            config.block_size,
            _root_key(self.info, self._model.windows),
            windows=self._model.windows,
            max_step_tokens=config.max_batch_tokens,
        )
        scheduler = Scheduler(
            manager,
            StepBudget(config.max_batch_tokens, config.max_gap_ms),
            max_num_sequences=config.max_num_sequences,
            max_model_len=self.info.max_model_len,
            allocation=config.allocation,
        )
        return manager, scheduler


def load_engine(config: EngineConfig, on_progress: Callable[[str, int, int], None]) -> Engine:
    """Load a model and everything to talk with it.

    Args:
        config: What to load, and how.
        on_progress: Told (stage, units done, units in all); what it raises ends the loading.

    Raises:
        EngineError: The file, the memory or the settings do not allow it.
    """
    _check_config(config)
    from pagedesk.engine.model_runner import load_model  # noqa: PLC0415 - brings torch, which takes seconds

    model = load_model(config, on_progress)
    try:
        on_progress("tokenizer", 0, 0)
        return Engine(model, prompt_builder(model.metadata), config)
    except BaseException:
        model.runner.close()
        raise


def check_engine(config: EngineConfig) -> None:
    """Raise the `EngineError` of `load_engine`, as far as it can be told while another model holds the memory."""
    _check_config(config)
    from pagedesk.engine.models.loading import check_model  # noqa: PLC0415 - brings torch, which takes seconds

    prompt_builder(check_model(config))


def _check_config(config: EngineConfig) -> None:
    for name, value in (("number of blocks", config.num_blocks), ("longest sequence", config.max_model_len)):
        if value is not None and value < 1:
            raise InvalidRequestError(f"The {name} is {value:,}; it must be at least 1.", "Correct the setting.")


def _root_key(info: ModelInfo, windows: tuple[int | None, ...]) -> bytes:
    fingerprint = f"{info.path}\0{info.file_bytes}\0{info.dtype}\0{info.backend_name}\0{windows}"
    return hashlib.blake2b(os.fsencode(fingerprint), digest_size=16).digest()  # a path need not be text


def _miss_reason(request: Request) -> MissReason | None:
    """Where a chat that nobody edited has another token in its history than before, the template wrote it anew."""
    if request.miss_reason is MissReason.EDITED and request.spec.is_unedited:
        return MissReason.TEMPLATE
    return request.miss_reason


def _dropped(submit: Submit, prompt: FittedPrompt) -> list[Event]:
    num_messages = prompt.num_dropped_messages
    return [TurnsDropped(submit.request_id, num_messages, prompt.num_dropped_tokens)] if num_messages else []


def _describe(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "There was not enough memory for this step."
    return f"The engine failed in this step ({type(error).__name__}: {error})."

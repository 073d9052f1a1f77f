"""Tells where the device's memory is now. Engine thread.

What is ours comes from the plan, exact; what everything else uses is asked of the device, at most once a second.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from pagedesk.engine.memory.device_memory import DeviceMemory
from pagedesk.engine.memory.plan import MemoryPlan
from pagedesk.protocol import MemoryUse

INTERVAL_S = 1.0
_log = logging.getLogger(__name__)


class MemoryMeter:
    """The memory of one loaded model's device.

    Args:
        plan: What the model was given.
        probe: Asks the device.
        clock: Seconds that only grow.
    """

    def __init__(
        self, plan: MemoryPlan, probe: Callable[[], DeviceMemory], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._plan = plan
        self._probe = probe
        self._clock = clock
        self._due_s = 0.0
        self._is_silent = False
        self._newest = self._measure()

    def read(self) -> MemoryUse:
        """Where it is now, at most a second old; older if the device does not tell."""
        if self._clock() >= self._due_s:
            self._refresh()
        return self._newest

    def _refresh(self) -> None:
        try:
            self._newest = self._measure()
        except Exception:  # noqa: BLE001 - a driver that does not answer must not end a chat
            level = logging.DEBUG if self._is_silent else logging.WARNING
            _log.log(level, "the device does not tell its memory", exc_info=True)
            self._is_silent = True
        else:
            self._is_silent = False

    def _measure(self) -> MemoryUse:
        self._due_s = self._clock() + INTERVAL_S
        plan, memory = self._plan, self._probe()
        ours_bytes = plan.weights_bytes + plan.workspace_bytes + plan.pool_bytes
        return MemoryUse(
            device_name=memory.device_name,
            total_bytes=memory.total_bytes,
            others_bytes=max(0, memory.total_bytes - memory.free_bytes - ours_bytes),
            budget_bytes=plan.budget_bytes,
            weights_bytes=plan.weights_bytes,
            workspace_bytes=plan.workspace_bytes,
            pool_bytes=plan.pool_bytes,
            headroom_bytes=plan.headroom_bytes,
            on_card=not memory.is_host,
        )

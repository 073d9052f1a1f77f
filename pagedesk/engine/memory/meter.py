"""Tells where the device's memory is now. Engine thread.

What is ours comes from the plan, exact; what everything else uses is asked of the device, at most once a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pagedesk.engine.memory.device_memory import DeviceMemory
from pagedesk.engine.memory.plan import MemoryPlan
from pagedesk.protocol import MemoryUse

INTERVAL_S = 1.0


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
        self._newest = self._measure()

    def read(self) -> MemoryUse:
        """Where it is now, at most a second old."""
        if self._clock() >= self._due_s:
            self._newest = self._measure()
        return self._newest

    def _measure(self) -> MemoryUse:
        plan, memory = self._plan, self._probe()
        self._due_s = self._clock() + INTERVAL_S
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

"""How many blocks a sequence is given when it is let in: what it needs, or what it might ever need.

Engine thread only. PageDesk takes blocks on demand. The two kinds of reservation are what programs without paged
attention do; they are here so that a benchmark can change the allocation and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from pagedesk.engine.config import Allocation
from pagedesk.engine.scheduling.request import RequestSpec


@dataclass(frozen=True, slots=True)
class Admission:
    """The rule.

    Attributes:
        allocation: Which one.
        max_len: The longest sequence, in tokens.
    """

    allocation: Allocation
    max_len: int

    def reserved_tokens(self, spec: RequestSpec) -> int:
        """For how many tokens each sequence of a request is given blocks at once, to keep until it ends."""
        match self.allocation:
            case Allocation.ON_DEMAND:
                return 0
            case Allocation.RESERVE_MAXIMUM:
                return self.max_len
            case Allocation.RESERVE_EXACT:
                num_new = spec.params.max_tokens
                wanted = self.max_len if num_new is None else len(spec.prompt_ids) + num_new
                return min(wanted, self.max_len)

    def spare_tables(self, num_running: int, num_siblings: int) -> int:
        """For how many tables to leave a block: one for each that runs, or the newcomer would soon lose its turn again.

        Where everybody has reserved, nobody needs more.
        """
        if self.allocation is not Allocation.ON_DEMAND or num_running == 0:
            return 0
        return num_running + num_siblings

"""How many blocks each chat has, and the small numbers by which the block map names chats.

Engine thread only. Kept current block by block, never counted anew.
"""

from __future__ import annotations

from pagedesk.protocol import NO_OWNER, BlockState, ChatBlocks


class _Count:
    """One chat's blocks: a count for each `BlockState`."""

    __slots__ = ("by_state", "chat_id")

    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id
        self.by_state = [0] * len(BlockState)

    @property
    def is_vacant(self) -> bool:
        return not any(self.by_state)


class ChatTally:
    """Counts of owned, shared and cached blocks by chat index.

    The index of a chat that has no block is given to the next chat that needs one, so indices stay small however
    many chats come and go.
    """

    def __init__(self) -> None:
        self._counts: list[_Count] = []
        self._indices: dict[str, int] = {}

    def add(self, chat_id: str, state: BlockState) -> int:
        """Count one more block in this state; gives the chat's index, `NO_OWNER` if all are in use."""
        index = self._indices.get(chat_id)
        if index is None:
            index = self._assign(chat_id)
        if index != NO_OWNER:
            self._counts[index].by_state[state] += 1
        return index

    def remove(self, index: int, state: BlockState) -> None:
        """Count one block less; takes the index that `add` gave for it."""
        if index != NO_OWNER:
            self._counts[index].by_state[state] -= 1

    def counts(self) -> tuple[ChatBlocks, ...]:
        """The counts by chat index."""
        owned, shared, cached = BlockState.OWNED, BlockState.SHARED, BlockState.CACHED
        return tuple(
            ChatBlocks(c.chat_id, c.by_state[owned], c.by_state[shared], c.by_state[cached]) for c in self._counts
        )

    def _assign(self, chat_id: str) -> int:
        index = next((i for i, count in enumerate(self._counts) if count.is_vacant), len(self._counts))
        if index == NO_OWNER:
            return NO_OWNER
        if index == len(self._counts):
            self._counts.append(_Count(chat_id))
        else:
            del self._indices[self._counts[index].chat_id]
            self._counts[index] = _Count(chat_id)
        self._indices[chat_id] = index
        return index

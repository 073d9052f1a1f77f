"""What each block looks like: one small number a block, from the arrays of a snapshot.

Pure numpy; knows neither pixels nor Qt. A look is a kind of cell and, where the kind has one, a colour index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pagedesk.protocol import BlockState, PoolSnapshot
from pagedesk.ui.gauge.palette import NO_CHAT_COLOR, NUM_CHAT_COLORS

_COLORS = NUM_CHAT_COLORS + 1

FREE = 0
OWNED = FREE + 1
"""The first of the looks of owned blocks: `OWNED + color_index`."""
SHARED = OWNED + _COLORS
"""The first of the looks of blocks shared by one or two chats."""
SHARED_BY_MANY = SHARED + _COLORS
CACHED = SHARED_BY_MANY + 1
"""The first of the looks of cached blocks."""
NUM_LOOKS = CACHED + _COLORS

Looks: TypeAlias = npt.NDArray[np.uint8]
"""A look for each block, by block id."""

_FIRST_LOOK = np.array([FREE, OWNED, SHARED, CACHED], np.uint8)
_STATE = np.array(
    [BlockState.FREE]
    + [BlockState.OWNED] * _COLORS
    + [BlockState.SHARED] * (_COLORS + 1)
    + [BlockState.CACHED] * _COLORS,
    np.uint8,
)


def looks_of(snapshot: PoolSnapshot, color_of_chat: Mapping[str, int]) -> Looks:
    """The looks of a snapshot's blocks.

    Where two chats share blocks, these take the two colours in turn by their ids, so that a block keeps its colour.

    Args:
        snapshot: The pool.
        color_of_chat: Colour index by chat id; chats that are missing get `NO_CHAT_COLOR`.
    """
    palette = _chat_colors(snapshot, color_of_chat)
    colors, second = (_by_owner(palette, owners) for owners in (snapshot.owners, snapshot.second_owners))
    num_owners = np.frombuffer(snapshot.num_owners, np.uint8)
    states = np.frombuffer(snapshot.states, np.uint8)
    np.copyto(colors[1::2], second[1::2], where=num_owners[1::2] == 2)
    looks = _FIRST_LOOK.take(states) + colors
    looks[states == BlockState.FREE] = FREE
    looks[(states == BlockState.SHARED) & (num_owners > 2)] = SHARED_BY_MANY
    return looks


def states_of(looks: Looks) -> Looks:
    """The `BlockState` that each look shows."""
    return _STATE.take(looks)


def counts_of(looks: Looks) -> npt.NDArray[np.intp]:
    """How many looks show each `BlockState`."""
    return np.bincount(states_of(looks), minlength=len(BlockState))


def newly_taken(before: Looks, after: Looks) -> npt.NDArray[np.bool_]:
    """Which blocks a chat has newly taken: free before, or owned or cached in another colour before."""
    was, now = states_of(before), states_of(after)
    held = (now == BlockState.OWNED) | (now == BlockState.SHARED)
    came_from_free = held & (was == BlockState.FREE)
    changed_hands = (
        (now == BlockState.OWNED) & (was != BlockState.SHARED) & (before - _FIRST_LOOK[was] != after - OWNED)
    )
    return np.asarray(came_from_free | changed_hands)


def newly_freed(before: Looks, after: Looks) -> npt.NDArray[np.bool_]:
    """Which blocks became free."""
    return np.asarray((before != FREE) & (after == FREE))


def _chat_colors(snapshot: PoolSnapshot, color_of_chat: Mapping[str, int]) -> Looks:
    colors = [_shown_color(color_of_chat.get(chat.chat_id)) for chat in snapshot.chats]
    return np.array([*colors, NO_CHAT_COLOR], np.uint8)


def _shown_color(color_index: int | None) -> int:
    return NO_CHAT_COLOR if color_index is None else color_index % NUM_CHAT_COLORS


def _by_owner(colors: Looks, owners: bytes) -> Looks:
    indices = np.minimum(np.frombuffer(owners, "<u2"), len(colors) - 1)
    return np.asarray(colors.take(indices))

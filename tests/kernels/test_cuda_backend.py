"""The house for NVIDIA cards, its kernels interpreted on the CPU, against the exact house."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from pagedesk.engine.backends.base import StepAttention
from pagedesk.engine.backends.cuda import CudaBackend, why_not_cuda
from pagedesk.engine.backends.packing import pack_slices
from pagedesk.engine.backends.reference import ReferenceBackend
from pagedesk.engine.batch import SequenceSlice, TablePart

BLOCK_SIZE = 16
MAX_GATHERED_TOKENS = 64
NUM_BLOCKS = 12
NUM_KV_HEADS = 2
NUM_HEADS = 6
HEAD_SIZE = 32
SCALE = HEAD_SIZE**-0.5


def _piece(sequence_id: int, start_position: int, num_tokens: int, block_ids: tuple[int, ...]) -> SequenceSlice:
    return SequenceSlice(sequence_id, (1,) * num_tokens, start_position, (TablePart(block_ids),), sample=None)


SHORT_CHAT = _piece(1, 9, 1, (7,))
LONG_CHAT = _piece(2, 36, 1, (3, 11, 0))
FIRST_TOKEN = _piece(3, 0, 1, (5,))
NEW_PROMPT = _piece(4, 0, 20, (9, 2))
LATER_CHUNK = _piece(5, 18, 5, (4, 10))


def _attend(attention: StepAttention, step: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """Store and attend in one layer of a cache that holds earlier tokens; what was attended, and the cache."""
    queries, keys, values, cache = (tensor.clone() for tensor in step)
    attention.store(keys, values, cache[:, 1, 0], cache[:, 1, 1])
    return attention.attend(queries, cache[:, 1, 0], cache[:, 1, 1]), cache


def _compare(slices: tuple[SequenceSlice, ...], window: int | None = None, softcap: float | None = None) -> None:
    random = torch.Generator().manual_seed(5)
    batch = pack_slices(slices, BLOCK_SIZE, torch.device("cpu"), (window,)).batches[0]
    num_tokens = sum(batch.host_query_lens)
    projection = torch.randn((num_tokens, NUM_HEADS + 2 * NUM_KV_HEADS, HEAD_SIZE), generator=random)
    cache = torch.randn((NUM_BLOCKS, 3, 2, BLOCK_SIZE, NUM_KV_HEADS, HEAD_SIZE), generator=random)
    step = (*projection.split([NUM_HEADS, NUM_KV_HEADS, NUM_KV_HEADS], dim=1), cache)
    houses = (CudaBackend(BLOCK_SIZE, MAX_GATHERED_TOKENS), ReferenceBackend(BLOCK_SIZE, MAX_GATHERED_TOKENS))
    ours, theirs = (_attend(house.plan_attention(batch, SCALE, softcap), step) for house in houses)
    torch.testing.assert_close(ours[0], theirs[0], rtol=2e-6, atol=2e-6)
    assert torch.equal(ours[1], theirs[1])


@pytest.mark.interpret
@pytest.mark.parametrize(
    "slices",
    [
        (SHORT_CHAT, LONG_CHAT, FIRST_TOKEN),
        (NEW_PROMPT, LATER_CHUNK),
        (NEW_PROMPT, SHORT_CHAT, LATER_CHUNK, LONG_CHAT),
    ],
    ids=["only decodes", "only prompts", "both mixed"],
)
def test_a_step_stores_and_attends_as_in_the_exact_house(
    interpreted: Callable[..., None], slices: tuple[SequenceSlice, ...]
) -> None:
    interpreted(_compare, slices)


@pytest.mark.parametrize(("window", "softcap"), [(7, None), (None, 0.5), (7, 0.5)])
def test_windows_and_caps_that_no_kernel_knows_are_computed_as_in_the_exact_house(
    window: int | None, softcap: float | None
) -> None:
    _compare((NEW_PROMPT, SHORT_CHAT, LATER_CHUNK, LONG_CHAT), window, softcap)


def _works() -> None:
    assert why_not_cuda(torch.device("cpu"), torch.bfloat16) is None


@pytest.mark.interpret
def test_kernels_that_run_open_the_house(interpreted: Callable[..., None]) -> None:
    interpreted(_works)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine on which Triton cannot run")
def test_a_machine_without_a_card_is_told_why_the_house_is_closed() -> None:
    reason = why_not_cuda(torch.device("cpu"), torch.float16)
    assert reason is not None
    assert reason.startswith("Triton cannot run kernels on this machine")

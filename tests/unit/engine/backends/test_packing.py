"""How slices become one batch."""

from __future__ import annotations

import torch

from pagedesk.engine.backends.packing import PackedStep, pack_slices
from pagedesk.engine.batch import SampleSpec, SequenceSlice, TablePart
from pagedesk.protocol import SamplingParams

SPEC = SampleSpec(SamplingParams(), seed=1, draw_index=2)
CHUNK = SequenceSlice(7, (10, 11, 12), 3, (TablePart((5, 2)),), None)
DECODE = SequenceSlice(8, (20,), 17, (TablePart((9, 4, 6, 1, 3, 0)),), SPEC)
LAST_CHUNK = SequenceSlice(9, (30, 31), 0, (TablePart((8,)),), SPEC)


def packed() -> PackedStep:
    return pack_slices([CHUNK, DECODE, LAST_CHUNK], 4, torch.device("cpu"))


def test_slices_with_one_token_come_first_and_the_rest_keeps_its_order() -> None:
    assert packed().slices == (DECODE, CHUNK, LAST_CHUNK)


def test_tokens_and_positions_are_packed_without_gaps() -> None:
    assert packed().token_ids.tolist() == [20, 10, 11, 12, 30, 31]
    assert packed().positions.tolist() == [17, 3, 4, 5, 0, 1]


def test_a_slot_is_a_place_in_the_block_that_holds_the_position() -> None:
    assert packed().batches[0].slot_mapping.tolist() == [3 * 4 + 1, 5 * 4 + 3, 2 * 4, 2 * 4 + 1, 8 * 4, 8 * 4 + 1]


def test_tables_are_padded_to_the_longest_that_the_step_reads() -> None:
    assert packed().batches[0].block_tables.tolist() == [[9, 4, 6, 1, 3], [5, 2, 0, 0, 0], [8, 0, 0, 0, 0]]


def test_lengths_count_what_is_cached_after_the_step() -> None:
    batch = packed().batches[0]
    assert batch.host_seq_lens == (18, 6, 2)
    assert batch.seq_lens.tolist() == [18, 6, 2]
    assert batch.cu_seqlens.tolist() == [0, 1, 4, 6]
    assert batch.num_decodes == 1


def test_the_last_row_of_each_slice_that_wants_a_token_is_sampled() -> None:
    assert packed().sampled() == ([8, 9], [0, 5], [SPEC, SPEC])


def test_each_group_has_its_own_tables_and_counts_from_the_first_block_of_each() -> None:
    """Of the second group two blocks of four tokens have left the window: position 17 is the tenth place there."""
    piece = SequenceSlice(8, (20,), 17, (TablePart((9, 4, 6, 1, 3)), TablePart((7, 2, 5), 2)), SPEC)
    whole, windowed = pack_slices([piece], 4, torch.device("cpu"), (None, 6)).batches
    assert (whole.slot_mapping.tolist(), windowed.slot_mapping.tolist()) == ([3 * 4 + 1], [5 * 4 + 1])
    assert (whole.host_seq_lens, windowed.host_seq_lens) == ((18,), (10,))
    assert (windowed.block_tables.tolist(), whole.window, windowed.window) == ([[7, 2, 5]], None, 6)

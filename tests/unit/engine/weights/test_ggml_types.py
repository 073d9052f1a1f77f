"""The table of number formats."""

from __future__ import annotations

from gguf.constants import GGML_QUANT_SIZES

from pagedesk.engine.weights.ggml_types import GGML_TYPES, WITHDRAWN_TYPES


def test_every_format_has_the_block_that_the_gguf_package_gives_it() -> None:
    expected = {int(kind): (kind.name, *sizes) for kind, sizes in GGML_QUANT_SIZES.items()}
    ours = {kind.type_id: (kind.name, kind.block_values, kind.block_bytes) for kind in GGML_TYPES.values()}
    assert ours == expected


def test_a_withdrawn_format_is_not_also_a_living_one() -> None:
    assert not WITHDRAWN_TYPES.keys() & GGML_TYPES.keys()

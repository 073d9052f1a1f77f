"""The names that people know a model and its quantisation by. Stdlib only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from pagedesk.engine.weights.gguf import TensorInfo

_FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4_MOE",
}
"""`general.file_type`; source: enum llama_ftype of llama.cpp."""


def model_name(path: Path, quantisation: str) -> str:
    """The name of the file without its quantisation.

    `general.name` in the metadata is what the converter was told: often a training run or a folder, not a name.
    """
    stem = re.sub(rf"[-._ ]{re.escape(quantisation)}$", "", path.stem, flags=re.IGNORECASE)
    return stem or path.stem


def quantisation_name(metadata: Mapping[str, object], tensors: Iterable[TensorInfo]) -> str:
    """What the file calls itself, or else the format that most of its bytes have."""
    file_type = metadata.get("general.file_type")
    if isinstance(file_type, int) and file_type in _FILE_TYPES:
        return _FILE_TYPES[file_type]
    num_bytes: Counter[str] = Counter()
    for tensor in tensors:
        num_bytes[tensor.ggml_type.name] += tensor.num_bytes
    return num_bytes.most_common(1)[0][0] if num_bytes else "none"

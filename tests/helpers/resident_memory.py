"""How much memory the engine holds over time, measured in a process of its own; prints a JSON array of bytes.

Run as a program: `python -m tests.helpers.resident_memory loads MODEL COUNT` (after each load and unload), or
`... prompts MODEL COUNT` (after each short prompt, all of them different).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import Engine, load_engine
from tests.helpers.engines import run, submit

NUM_BLOCKS = 64
WORDS = ("red", "tall", "river", "seven", "why", "under", "glass", "bird", "slow", "north", "apple", "door", "is")


def main(what: str, model: str, count: int) -> None:
    """Measure and print."""
    measure = {"loads": after_loads, "prompts": after_prompts}[what]
    sys.stdout.write(json.dumps(list(measure(Path(model), count))))


def after_loads(model: Path, count: int) -> Iterator[int]:
    """Bytes after each of `count` loads, one answer each, and unloads."""
    for _ in range(count):
        engine = load(model)
        ask(engine, 0)
        engine.close()
        del engine
        yield resident_bytes()


def after_prompts(model: Path, count: int) -> Iterator[int]:
    """Bytes after each of `count` short prompts of one chat each."""
    engine = load(model)
    for number in range(count):
        ask(engine, number)
        yield resident_bytes()
    engine.close()


def load(model: Path) -> Engine:
    return load_engine(EngineConfig(model, device="cpu", num_blocks=NUM_BLOCKS), lambda _stage, _done, _total: None)


def ask(engine: Engine, number: int) -> None:
    """A prompt that no other number has, of 2 to 31 words."""
    words = [WORDS[(number // len(WORDS) ** place) % len(WORDS)] for place in range(2 + number % 30)]
    engine.add(submit(f"{number}", f"{number} {' '.join(words)}", chat=f"{number}", max_tokens=1))
    run(engine)


def resident_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

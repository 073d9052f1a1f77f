"""Numbers as the gauge writes them: binary units for memory, commas between thousands, a space before a unit.

Pure functions; None, a number that nobody knows, is written `-`.
"""

from __future__ import annotations

UNKNOWN = "-"
_KB, _MB, _GB = 1 << 10, 1 << 20, 1 << 30
_MAX_FIGURE = 1000


def memory(num_bytes: float | None) -> str:
    """A size of video or host memory, for instance `4.9 GB`, `698 MB` or `2.3 MB` (1 GB = 2^30 bytes)."""
    if num_bytes is None:
        return UNKNOWN
    if not num_bytes:
        return "0 MB"
    for unit, name in ((_KB, "KB"), (_MB, "MB")):
        if round(num_bytes / unit) < _MAX_FIGURE:
            return f"{_short(num_bytes / unit)} {name}"
    return f"{num_bytes / _GB:,.1f} GB"


def exact_bytes(num_bytes: float | None) -> str:
    """A size in full, for tool tips: `98,362,432 bytes`."""
    return UNKNOWN if num_bytes is None else f"{num_bytes:,.0f} bytes"


def count(number: float | None) -> str:
    """A number of things: `1,400`."""
    return UNKNOWN if number is None else f"{number:,.0f}"


def milliseconds(duration_ms: float | None) -> str:
    """A duration: `12.8 ms`, without the decimal from 100 ms on."""
    if duration_ms is None:
        return UNKNOWN
    return f"{duration_ms:.1f} ms" if duration_ms < 99.95 else f"{duration_ms:,.0f} ms"


def percent(share: float | None) -> str:
    """A share between 0 and 1: `91 %`. Only all of it is written `100 %`, only nothing `0 %`."""
    if share is None:
        return UNKNOWN
    whole = round(share * 100)
    if 0 < share < 1:
        whole = min(99, max(1, whole))
    return f"{whole} %"


def _short(number: float) -> str:
    return f"{number:.1f}" if 0 < number < 9.95 else f"{number:.0f}"

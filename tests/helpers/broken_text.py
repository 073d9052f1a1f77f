"""What bytes mean as text whose end may be cut off."""

from __future__ import annotations

import codecs


def whole_text(data: bytes) -> str:
    """All bytes decoded at once, without a character that the end cuts off."""
    return codecs.getincrementaldecoder("utf-8")(errors="replace").decode(data)

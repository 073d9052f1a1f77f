"""Says what a file is that is not a model, from its first bytes. Stdlib only."""

from __future__ import annotations

GGUF_MAGIC = b"GGUF"

_KNOWN = (
    (b"version https://git-lfs", "it is a Git LFS pointer, the text that stands for a file that was not downloaded"),
    (b"<!doctype", "it is a web page"),
    (b"<html", "it is a web page"),
    (b"pk\x03\x04", "it is a ZIP archive (PyTorch checkpoints are ZIP archives too)"),
    (b"\x80\x02", "it is a Python pickle, which may run code when it is opened"),
    (b"lmgg", "it is a GGML file, the kind that came before GGUF"),
    (b"tjgg", "it is a GGJT file, a kind that came before GGUF"),
    (b"fmgg", "it is a GGMF file, a kind that came before GGUF"),
    (b"fugg", "it is a byte-swapped GGUF file"),
    (b"\x89hdf", "it is an HDF5 file"),
)


def describe_bytes(start: bytes) -> str:
    """The end of a sentence that says what the file is, or shows its first bytes."""
    if not start:
        return "it is empty"
    lowered = start.lstrip().lower()
    for magic, description in _KNOWN:
        if lowered.startswith(magic):
            return description
    if start[8:9] == b"{":
        return "it looks like a safetensors file"
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in start[:8])
    return f"it starts with the bytes {start[:8].hex(' ')} ({shown!r})"

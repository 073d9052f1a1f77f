"""Finds the model file that a path means: the file itself, or the one GGUF file of a folder."""

from __future__ import annotations

import re
from pathlib import Path

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.weights.gguf_header import Metadata

_PART_OF_SPLIT = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)


def find_model_file(path: Path) -> Path:
    """The GGUF file that `path` means.

    Raises:
        ModelFileError: Nothing is there, or a folder does not hold exactly one GGUF file.
    """
    try:
        found = _files_meant(path)
    except OSError as error:
        cause = f"{path} cannot be opened: {error.strerror or error}."
        raise ModelFileError(cause, "Check that you may read it and that its drive is connected.") from error
    if len(found) == 1:
        return found[0]
    raise _folder_error(path, found)


def refuse_split_file(path: Path, metadata: Metadata) -> None:
    """Refuse a file that is one part of a model.

    Raises:
        ModelFileError: The file says so, or its name does.
    """
    num_parts = metadata.get("split.count", 1)
    if _PART_OF_SPLIT.search(path.name) or (isinstance(num_parts, int) and num_parts > 1):
        cause = f"{path.name} is one part of a model that is split over several files, which PageDesk cannot open yet."
        raise ModelFileError(cause, "Choose the same model in one file, or join the parts with llama-gguf-split.")


def _files_meant(path: Path) -> list[Path]:
    if not path.exists():
        raise ModelFileError(f"There is no file or folder {path}.", "Check the path, or choose another model.")
    if path.is_file():
        return [path]
    if not path.is_dir():
        cause = f"{path} is neither a file nor a folder but a pipe, a socket or a device."
        raise ModelFileError(cause, "Choose a file that ends in .gguf.")
    return sorted(entry for entry in path.iterdir() if entry.suffix.lower() == ".gguf" and entry.is_file())


def _folder_error(folder: Path, found: list[Path]) -> ModelFileError:
    name = folder.resolve().name or folder.resolve()
    if found:
        names = ", ".join(entry.name for entry in found[:3]) + (", ..." if len(found) > 3 else "")
        return ModelFileError(f"The folder {name} holds {len(found)} GGUF files ({names}).", "Choose one of them.")
    if any(folder.glob("*.safetensors")):
        cause = f"The folder {name} holds safetensors files, which PageDesk cannot open yet."
        return ModelFileError(cause, "Choose a GGUF file of the same model.")
    return ModelFileError(f"The folder {name} holds no GGUF file.", "Choose a file that ends in .gguf.")

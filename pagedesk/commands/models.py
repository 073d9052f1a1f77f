"""`pagedesk models`: the models that are on this computer and what their files say of themselves."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pagedesk.engine.weights.gguf import read_gguf_header
from pagedesk.system.starter import starter_model_path


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model file; `--json` prints these names."""

    name: str
    path: str
    architecture: str
    quantisation: str
    file_bytes: int
    num_parameters: int
    context_length: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk models`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="the models that PageDesk knows on this computer")
    show = actions.add_parser("show", help="what a model file says of itself")
    show.add_argument("path", metavar="PATH", help="a GGUF file or a model folder")
    for action in (listing, show):
        action.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """List or show; the exit code."""
    if options.action == "show":
        return _print([describe(Path(options.path))], as_json=options.json, as_list=False)
    starter = starter_model_path()
    return _print([describe(starter)] if starter else [], as_json=options.json, as_list=True)


def describe(path: Path) -> ModelFile:
    """What the header of a model file says.

    Raises:
        UserError: the file is missing, damaged or no model.
    """
    header = read_gguf_header(path)
    return ModelFile(
        name=header.name,
        path=str(header.path),
        architecture=header.architecture,
        quantisation=header.quantisation,
        file_bytes=header.file_bytes,
        num_parameters=header.num_parameters,
        context_length=header.context_length,
    )


def _print(models: list[ModelFile], *, as_json: bool, as_list: bool) -> int:
    if as_json:
        rows = [asdict(model) for model in models]
        print(json.dumps(rows if as_list else rows[0], ensure_ascii=False))
        return 0
    for model in models:
        print(f"{model.name}: {model.architecture}, {model.quantisation}, {model.file_bytes:,} bytes")
        print(f"  {model.num_parameters:,} parameters, context of {model.context_length:,} tokens")
        print(f"  {model.path}")
    if not models:
        print("No model is installed. Run packaging/launch.py once to install the starter model.")
    return 0

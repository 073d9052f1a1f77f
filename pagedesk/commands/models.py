"""`pagedesk models`: the models that are on this computer and what their files say of themselves."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pagedesk.engine.models.config import read_decoder_config
from pagedesk.engine.models.registry import find_architecture
from pagedesk.engine.weights.gguf import GgufFile
from pagedesk.engine.weights.locate import find_model_file
from pagedesk.engine.weights.naming import model_name, quantisation_name
from pagedesk.system.starter import starter_model_path
from pagedesk.ui.options import model_path


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
    show.add_argument("path", type=model_path, metavar="PATH", help="a GGUF file or a model folder")
    for action in (listing, show):
        action.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """List or show; the exit code."""
    if options.action == "show":
        return _print([describe(options.path)], as_json=options.json, as_list=False)
    starter = starter_model_path()
    return _print([describe(starter)] if starter else [], as_json=options.json, as_list=True)


def describe(path: Path) -> ModelFile:
    """What the header of a model file says.

    Raises:
        UserError: the file is missing, damaged or no model.
    """
    with GgufFile(find_model_file(path)) as file:
        architecture = find_architecture(file.metadata)
        quantisation = quantisation_name(file.metadata, file.tensors.values())
        return ModelFile(
            name=model_name(file.path, quantisation),
            path=str(file.path),
            architecture=architecture.name,
            quantisation=quantisation,
            file_bytes=file.num_bytes,
            num_parameters=sum(tensor.num_values for tensor in file.tensors.values()),
            context_length=read_decoder_config(architecture, file.metadata).context_length,
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

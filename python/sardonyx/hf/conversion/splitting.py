"""A model as several files that are run one after another."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from sardonyx import _native
from sardonyx._base.errors import UsageError, refusal
from sardonyx._model.program import ONNXProgram
from sardonyx.hf.base.caches import PRESENT
from sardonyx.hf.base.parts import Part
from sardonyx.hf.output.genai import takes_one_token
from sardonyx.hf.output.in_place import save_in_place

EMBEDDINGS, HEAD = "embeddings", "head"
# Smaller constants are written into each file that reads them.
_SHARED_BYTES = 1024


class Stage(NamedTuple):
    """One of the files: its name without ".onnx", the native model, and how many bytes of its
    weights stay in other files."""

    name: str
    model: Any
    bytes_in_place: int


def write_stages(
    program: ONNXProgram,
    part: Part,
    count: int,
    folder: Path,
    *,
    files: Mapping[str, str],
    progress: Callable[[int, int], None],
    for_genai: bool = False,
) -> list[Stage]:
    """Writes the part as `count` groups of layers, with a file for what is before them and one for
    what is after them; returns these in the order in which they run.

    A weight that several of them read (of embeddings and head, mostly) is in the file of the first.
    `files`: whose weights stay where they are. `for_genai`: whether onnxruntime-genai runs them,
    which gives a file no keys and values that an earlier one made, and the first one whole prompts.

    Raises:
        UsageError: SX2012, where there are not as many layers, or the runtime does not run these
            files.
    """
    if for_genai and takes_one_token(program._native):
        raise _not_run(
            "the model takes one token at a time, and onnxruntime-genai passes whole prompts to "
            "the first of several files"
        )
    path, layers = _layers(program, part)
    if layers < count:
        whole = type(getattr(part.module, "model", part.module)).__name__
        where = f" ({path.removeprefix('model.')})" if path else ""
        raise refusal(
            "SX2012",
            f"--split {count} is beyond the layers of {whole}, which has {layers}{where}",
            f"--split {layers} has a file for each layer" if layers else "leave --split out",
            UsageError,
        )
    models = _native.split(program._native, path, layers, count)
    names = [EMBEDDINGS, *(f"layers_{number}" for number in range(count)), HEAD]
    places = dict(files)
    _check_stages(names, models, for_genai)
    shared = _native.shared_constants(models, _SHARED_BYTES)
    written: list[Any] = []
    stages = []
    for name, model, read_again in zip(names, models, shared, strict=True):
        file = folder / f"{name}.onnx"
        for earlier in written:
            _native.take_constants(model, earlier)
        stays = 0
        if files:
            stays = save_in_place(model, file, places)
        else:
            own_file = True if read_again else None
            _native.write(
                model, os.fspath(file), external_data=own_file, in_place=places, progress=progress
            )
        if read_again and (folder / f"{file.name}.data").is_file():
            written.append(_native.read_model(os.fspath(file)))
            data = f"{file.name}.data"
            places[os.fspath(folder / data)] = data
        stages.append(Stage(name, model, stays))
    return stages


def _check_stages(names: Sequence[str], models: Sequence[Any], for_genai: bool) -> None:
    for name, model in zip(names, models, strict=True):
        if model.node_count == 0 and name not in (EMBEDDINGS, HEAD):
            raise _not_run(f"the layers of {name}.onnx compute nothing of a text alone")
        caches = [each for each, _, _ in model.inputs if each.startswith(PRESENT)]
        if caches and for_genai:
            raise _not_run(
                f"{name}.onnx reads {caches[0]}, the keys or values of a layer in an earlier file, "
                "which onnxruntime-genai does not pass"
            )


def _not_run(why: str) -> Exception:
    return refusal(
        "SX2012", f"--split: {why}", "another number of files, or no --split", UsageError
    )


def _layers(program: ONNXProgram, part: Part) -> tuple[str, int]:
    """The path of the list of modules that most nodes come from, and how many it has."""
    lists = {
        name: len(module)
        for name, module in part.module.named_modules()
        if isinstance(module, torch.nn.ModuleList)
    }
    nodes = dict.fromkeys(lists, 0)
    for path in _native.module_paths(program._native):
        steps = path.split(".")
        for end in range(1, len(steps)):
            if (name := ".".join(steps[:end])) in nodes:
                nodes[name] += 1
    best = max(nodes, key=lambda name: (nodes[name], -len(name)), default="")
    return (best, lists[best]) if nodes.get(best) else ("", 0)

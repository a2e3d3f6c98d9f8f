"""Weights of GGUF files, under the names and in the shapes that a model of transformers has.

llama.cpp has names of its own, and stores some weights otherwise (rows of queries and keys in
another order, norms with one added). transformers knows what is which, in two ways: as conversions
of its loader for a few architectures, and as processors of tensors for those before; the package
gguf has the names for these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from sardonyx import _native
from sardonyx._base.errors import Diagnostic, refusal, refusals
from sardonyx._model.weight_files import WeightInFile
from sardonyx._transformers_private import gguf as formats
from sardonyx.hf.base.packages import package

from .derived_weights import kept
from .quantized import QuantizedCheckpoint
from .weights import mapped, reading_files

_OF_SEVERAL = re.compile(r"^(.*)-(\d{5})-of-(\d{5})\.gguf$")
# Codes of these kinds can be kept: the bits, and how many share a scale.
_CODES = {"Q4_0": (4, 32)}


class GgufTensor(NamedTuple):
    """A tensor of a file, under llama.cpp's name: of a dtype, or in blocks of ggml's type; its
    dims are those of PyTorch."""

    name: str
    dtype: str
    block: str
    dims: list[int]
    offset: int
    length: int


@dataclass(frozen=True)
class GgufFile:
    """A file of weights.

    Attributes:
        path: where it is.
        architecture: llama.cpp's name of it.
        tensors: where they lie.
    """

    path: Path
    architecture: str
    tensors: list[GgufTensor]


def files_of(path: Path) -> list[GgufFile]:
    """The file, and those that it goes on in. SX2005 for those that are missing or cut short."""
    found = _OF_SEVERAL.match(path.name)
    names = [path.name]
    if found:
        stem, _, count = found.groups()
        names = [f"{stem}-{number:05}-of-{count}.gguf" for number in range(1, int(count) + 1)]
    missing = [name for name in names if not (path.parent / name).is_file()]
    if missing:
        raise refusals([Diagnostic("SX2005", f"the file {name} is missing") for name in missing])
    return [_read(path.parent / name) for name in names]


def _read(path: Path) -> GgufFile:
    architecture, tensors = _native.gguf_file(str(path))
    return GgufFile(path, architecture, [GgufTensor(*each) for each in tensors])


def conversions_of(files: list[GgufFile], config: Any) -> list[Any] | None:
    """The conversions of transformers' loader; None where it has none for the architecture."""
    return formats.conversions_of(files[0].architecture, config)


@reading_files()
def unpacked(
    files: list[GgufFile], model: torch.nn.Module, scratch: Path, named: bool
) -> QuantizedCheckpoint:
    """The weights; what is no block stays in the file unless transformers stores it otherwise.

    `named`: whether they get the model's names here, rather than by conversions of the loader.
    """
    tensors = [(file, tensor) for file in files for tensor in file.tensors]
    made = QuantizedCheckpoint([])
    names = _Names(files[0], model) if named else None
    kinds = set()
    for number, (file, tensor) in enumerate(tensors):
        weight = _in_file(file, tensor)
        changed = names.changed(weight, scratch, number) if names else [weight]
        made.weights += changed
        if tensor.block:
            kinds.add(tensor.block)
            made.names += [each.name for each in changed]
    made.weights += names.rest(scratch) if names else []
    if len(kinds) == 1:
        made.bits, made.group = _CODES.get(kinds.pop(), (0, 0))
    return made


def _in_file(file: GgufFile, tensor: GgufTensor) -> WeightInFile:
    """Where the tensor lies; what is in blocks is dequantized as it is read."""
    place = WeightInFile(
        tensor.name, str(file.path), tensor.dtype or "uint8", list(tensor.dims), tensor.offset,
        tensor.length,
    )  # fmt: skip
    if tensor.dtype:
        return place
    made = _native.Dequantized(tensor.block, place._replace(dims=[tensor.length]), place.dims)
    return WeightInFile(tensor.name, str(file.path), "float32", place.dims, 0, 0, made)


class _Names:
    """transformers' names for llama.cpp's, and what it does to their tensors."""

    def __init__(self, file: GgufFile, model: torch.nn.Module) -> None:
        """SX2006 without the package gguf, SX2001 for an architecture without names."""
        package("gguf", f"the names of {file.path.name}")
        if not formats.NAMES.available:
            raise refusal(
                "SX2001",
                f"{file.path.name} is a {file.architecture}, whose names are not known: "
                f"{formats.NAMES.reason}",
                "export the checkpoint that it was made of",
            )
        config: Any = model.config
        text = config.get_text_config().to_dict()
        self._processor = formats.processor_of(file.architecture, text)
        try:
            names = formats.names_of(model, self._processor)
        except NotImplementedError as error:
            raise refusal(
                "SX2001",
                f"{file.path.name} is a {file.architecture}, whose names are not known: {error}",
                "export the checkpoint that it was made of",
            ) from error
        self._names = names
        # Where processors put what they make of several tensors.
        self._parsed: dict[str, Any] = {"tensors": {}}

    def changed(self, weight: WeightInFile, scratch: Path, number: int) -> list[WeightInFile]:
        """The weight under its name in the model, and as the model has it."""
        given = mapped(weight)
        plain = given.float() if given.dtype == torch.bfloat16 else given
        result = self._processor.process(
            weights=plain.numpy(),
            name=weight.name,
            tensor_key_mapping=self._names,
            parsed_parameters=self._parsed,
        )
        if result.name is None:
            return []
        name = self._names.get(result.name, result.name)
        tensor = torch.from_numpy(result.weights)
        same = tensor.data_ptr() == plain.data_ptr() and tensor.is_contiguous()
        if same and tensor.shape == given.shape:
            return [weight._replace(name=name)]
        return kept({name: tensor}, scratch / f"named-{number}.safetensors")

    def rest(self, scratch: Path) -> Iterable[WeightInFile]:
        """What was made of several tensors."""
        for number, (name, tensor) in enumerate(self._parsed["tensors"].items()):
            yield from kept({name: tensor}, scratch / f"several-{number}.safetensors")

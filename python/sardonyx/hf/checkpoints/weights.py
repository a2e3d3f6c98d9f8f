"""Which tensor of a checkpoint is which weight of a model, by transformers' own rules.

Checkpoints have the names of the release that wrote them. transformers renames as it loads, and
makes some weights of several tensors (the experts of a layer become one): what is only renamed
stays in its file, what is computed is computed one weight at a time and kept in a file of ours.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.errors import Diagnostic, refusals
from sardonyx._model.weight_files import WeightInFile

from .derived_weights import kept

if TYPE_CHECKING:
    import torch


@dataclass
class PlacedWeights:
    """The weights of a model, and where each lies in the files of its checkpoint.

    Attributes:
        places: the place of each tensor of the model's state dict that a file has, by name.
        computed: the weights among them that were computed of several tensors.
        unused: tensors of the checkpoint that the model does not have.
    """

    places: dict[str, WeightInFile]
    computed: list[str] = field(default_factory=list)
    unused: list[WeightInFile] = field(default_factory=list)


@contextlib.contextmanager
def reading_files() -> Iterator[None]:
    """A block that reads mapped() tensors: SX1101 where a file was cut short meanwhile, whatever
    came of it."""
    guard = _native.CutShortGuard()
    try:
        yield
    finally:
        guard.check()


@reading_files()
def place_weights(
    model: torch.nn.Module,
    in_files: Iterable[WeightInFile],
    scratch: Path,
    transforms: Iterable[Any] | None = None,
    places: Mapping[str, WeightInFile] | None = None,
) -> PlacedWeights:
    """Finds every weight of the model; computed ones are written to the folder `scratch`.

    `transforms`: transformers' conversions, by default those of the model's own checkpoints.
    `places`: of weights that are found already.
    SX2004 for every parameter that no file has or that has another shape there.
    """
    from sardonyx._transformers_private.weights import Conversions

    conversions = Conversions(model, transforms)
    known = model.state_dict(keep_vars=True)
    placed = PlacedWeights(dict(places or {}))
    wanted: dict[str, tuple[Any, list[tuple[str, WeightInFile]]]] = {}
    for weight in sorted(in_files, key=lambda w: conversions.order(w.name)):
        name, pattern = conversions.renamed(weight.name, known)
        if name not in known and weight.name in known:
            name, pattern = weight.name, None
        if name not in known:
            placed.unused.append(weight)
        elif pattern is None:
            placed.places[name] = weight
        else:
            wanted.setdefault(name, (conversions.converter(pattern), []))[1].append(
                (pattern, weight)
            )
    _compute(model, wanted, scratch, placed)
    _tie(known, placed.places)
    _initialize(model, known, scratch, placed)
    _check(model, known, placed)
    return placed


def _compute(
    model: torch.nn.Module,
    wanted: Mapping[str, tuple[Any, list[tuple[str, WeightInFile]]]],
    scratch: Path,
    placed: PlacedWeights,
) -> None:
    """Each weight that is made of several tensors, one at a time."""
    for number, (name, (converter, sources)) in enumerate(wanted.items()):
        for pattern, weight in sources:
            converter.add_tensor(name, weight.name, pattern, lambda weight=weight: mapped(weight))
        made = converter.convert(name, model=model, config=model.config)
        tensors = {k: value[0] if isinstance(value, list) else value for k, value in made.items()}
        computed = kept(tensors, scratch / f"{number}.safetensors")
        del made, tensors
        for weight in computed:
            placed.places[weight.name] = weight
            placed.computed.append(weight.name)


def mapped(weight: WeightInFile) -> torch.Tensor:
    """The tensor in its file, mapped, not read; what is in a few bits is dequantized."""
    import torch

    if weight.made is not None:
        return torch.from_numpy(weight.made.values())
    dtype: torch.dtype = getattr(torch, weight.dtype)
    if weight.length == 0:
        return torch.empty(weight.dims, dtype=dtype)
    flat = torch.from_numpy(_native.file_array(weight.path, weight.offset, weight.length))
    if weight.offset % dtype.itemsize:
        flat = flat.clone()
    return flat.view(dtype).view(weight.dims)


def _tie(known: Mapping[str, torch.Tensor], places: dict[str, WeightInFile]) -> None:
    """A tensor under one name is that of all names that the model ties to it."""
    by_tensor = {id(known[name]): place for name, place in places.items()}
    for name, tensor in known.items():
        if name not in places and (place := by_tensor.get(id(tensor))) is not None:
            places[name] = place


def _initialize(
    model: torch.nn.Module, known: Mapping[str, torch.Tensor], scratch: Path, placed: PlacedWeights
) -> None:
    from .uninitialized_weights import initial_values

    parameters = {id(parameter) for parameter in model.parameters()}
    missing = [n for n, t in known.items() if n not in placed.places and id(t) in parameters]
    if made := initial_values(model, missing):
        computed = kept(made, scratch / "initial.safetensors")
        placed.places |= {weight.name: weight for weight in computed}


def _check(
    model: torch.nn.Module, known: Mapping[str, torch.Tensor], placed: PlacedWeights
) -> None:
    parameters = {id(parameter) for parameter in model.parameters()}
    problems = []
    for name, tensor in known.items():
        place = placed.places.get(name)
        if place is None and id(tensor) in parameters:
            problems.append(f"the checkpoint has no '{name}', {_text(tensor.shape)}")
        elif place is not None and list(tensor.shape) != place.dims:
            problems.append(
                f"'{name}' is {_text(tensor.shape)} in the model, and '{place.name}' of the "
                f"checkpoint is {_text(place.dims)}"
            )
    if problems:
        advice = (
            f"the model is a {type(model).__name__}: is that the class that was trained? "
            "--task names another"
        )
        raise refusals([Diagnostic("SX2004", problem, help=advice) for problem in problems])


def _text(dims: Iterable[int]) -> str:
    return "[" + ", ".join(map(str, dims)) + "]"

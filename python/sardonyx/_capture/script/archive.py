"""What torch.jit.save() writes of a program, without its weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch


class Archived(NamedTuple):
    """The archive, and the weights that it says no more of than how they are called."""

    data: bytes
    weights: dict[str, torch.Tensor]


class _Place(NamedTuple):
    module: Any
    attribute: str
    name: str
    tensor: torch.Tensor


def archived(program: Any) -> Archived:
    """The archive of a ScriptModule or ScriptFunction.

    Tensors of one element stand in the places of parameters and buffers while it is written, so
    that nothing of their size is copied. Raises what PyTorch raises of programs that it cannot
    save, those that call Python.
    """
    places = list(_places(program)) if isinstance(program, torch.jit.ScriptModule) else []
    with _emptied(places), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = program.save_to_buffer()
    return Archived(data, {place.name: place.tensor for place in places})


def _places(program: torch.jit.ScriptModule) -> Iterator[_Place]:
    for path, part in program.named_modules():
        own: Any = part
        for held in (own.named_parameters, own.named_buffers):
            for attribute, tensor in held(recurse=False, remove_duplicate=False):
                if tensor.layout is torch.strided and not tensor.is_quantized and tensor.numel():
                    name = f"{path}.{attribute}" if path else attribute
                    yield _Place(own._c, attribute, name, tensor.detach())


@contextmanager
def _emptied(places: list[_Place]) -> Iterator[None]:
    kept = [place.module.getattr(place.attribute) for place in places]
    try:
        for place in places:
            place.module.setattr(place.attribute, _without_data(place.tensor))
        yield
    finally:
        for place, tensor in zip(places, kept, strict=True):
            place.module.setattr(place.attribute, tensor)


def _without_data(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.new_empty(1, device="cpu").as_strided(tensor.shape, [0] * tensor.dim())

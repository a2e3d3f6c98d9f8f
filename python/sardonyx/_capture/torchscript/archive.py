"""What torch.jit.save() writes of a program, without its weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from sardonyx._torch_private import torchscript

from .number_types import with_numbers


class ScriptArchive(NamedTuple):
    """A TorchScript archive without the data of its weights, and the weights by name."""

    data: bytes
    weights: dict[str, torch.Tensor]


class _Place(NamedTuple):
    module: Any
    attribute: str
    name: str
    tensor: torch.Tensor


def archived(program: Any) -> ScriptArchive:
    """The archive of a ScriptModule or ScriptFunction.

    Tensors of one element stand in the places of parameters and buffers while it is written, so
    that nothing of their size is copied. Raises what PyTorch raises of programs that it cannot
    save, those that call Python, and RuntimeError of modules whose own code says what is saved of
    them: that may be something else than they hold.
    """
    is_module = isinstance(program, torch.jit.ScriptModule)
    for part in program.modules() if is_module else ():
        own = torchscript.class_name(torchscript.native_module(part))
        if torchscript.has_method(part, "__getstate__") and not own.startswith(_SAVED_AS_HELD):
            raise RuntimeError(
                f"{own} has a __getstate__ of its own; save the module and convert the file"
            )
    places = list(_places(program)) if is_module else []
    with _emptied(places, program.modules() if is_module else ()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = program.save_to_buffer()
    return ScriptArchive(
        with_numbers(data, program), {place.name: place.tensor for place in places}
    )


def _places(program: torch.jit.ScriptModule) -> Iterator[_Place]:
    for path, part in program.named_modules():
        own: Any = part
        for held in (own.named_parameters, own.named_buffers):
            for attribute, tensor in held(recurse=False, remove_duplicate=False):
                if tensor.layout is torch.strided and not tensor.is_quantized and tensor.numel():
                    name = f"{path}.{attribute}" if path else attribute
                    yield _Place(torchscript.native_module(own), attribute, name, tensor.detach())


# Layers of packed weights, whose states are what they hold.
_SAVED_AS_HELD = "__torch__.torch.ao."

# Recurrent layers hold their weights in a list, too.
_FLAT = "_flat_weights"


@contextmanager
def _emptied(places: list[_Place], modules: Iterable[Any]) -> Iterator[None]:
    kept = [(p.module, p.attribute, p.module.getattr(p.attribute)) for p in places]
    natives = map(torchscript.native_module, modules)
    kept += [(own, _FLAT, own.getattr(_FLAT)) for own in natives if own.hasattr(_FLAT)]
    stubs: dict[Any, torch.Tensor] = {}

    def stub(tensor: torch.Tensor) -> torch.Tensor:
        key = tensor.data_ptr(), tensor.shape, tensor.stride()
        return stubs.setdefault(key, _without_data(tensor)) if tensor.numel() else tensor

    try:
        for module, attribute, held in kept:
            module.setattr(
                attribute, [stub(t) for t in held] if isinstance(held, list) else stub(held)
            )
        yield
    finally:
        for module, attribute, held in kept:
            module.setattr(attribute, held)


def _without_data(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.new_empty(1, device="cpu").as_strided(tensor.shape, [0] * tensor.dim())

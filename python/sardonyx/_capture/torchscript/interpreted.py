"""TorchScript programs as modules that torch.export follows while they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from sardonyx._torch_private import torchscript


class _Place(NamedTuple):
    """A weight in the program and, under the same name, in the module."""

    program: Any
    module: torch.nn.Module
    name: str


class InterpretedModule(torch.nn.Module):
    """Runs the program with this module's weights, which are the program's own, in their places.

    What torch.export sees are the operators that TorchScript's interpreter runs: its loops and its
    branches on sizes and numbers have gone the way of the example. One on data fails.
    """

    # Why PyTorch's converter did not take the program apart instead.
    reason: Exception
    _held: tuple[list[_Place], Any]

    def __init__(self, program: Any) -> None:
        super().__init__()
        is_module = isinstance(program, torch.jit.ScriptModule)
        places = list(self._adopt(program)) if is_module else []
        run = torchscript.method_of(program, "forward") if is_module else program
        object.__setattr__(self, "_held", (places, run))
        self.train(is_module and program.training)

    def _adopt(self, program: Any) -> Iterator[_Place]:
        modules: dict[str, torch.nn.Module] = {"": self}
        for path, part in program.named_modules():
            above, _, name = path.rpartition(".")
            module = modules.setdefault(path, torch.nn.Module())
            if path:
                modules[above].add_module(name, module)
            for weight, value in part.named_parameters(recurse=False):
                module.register_parameter(weight, value)
                yield _Place(torchscript.native_module(part), module, weight)
            for weight, value in part.named_buffers(recurse=False):
                module.register_buffer(weight, value)
                yield _Place(torchscript.native_module(part), module, weight)

    def forward(self, *args: Any) -> Any:
        """Runs the program with the module's own weights."""
        places, run = self._held
        own = [place.program.getattr(place.name) for place in places]
        try:
            for place in places:
                place.program.setattr(place.name, getattr(place.module, place.name))
            result = run(*args)
            for place in places:
                left = place.program.getattr(place.name)
                if left is not getattr(place.module, place.name):
                    setattr(place.module, place.name, left)
            return result
        finally:
            for place, value in zip(places, own, strict=True):
                place.program.setattr(place.name, value)

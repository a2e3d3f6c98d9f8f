"""Adapters as inputs of a model: two matrices for each adapted layer, which callers may leave out.

A runtime keeps one session and one copy of the model's weights for any number of adapters. ONNX
Runtime reads them from `.onnx_adapter` files (https://onnxruntime.ai/docs/genai/tutorials/
finetune.html) and gives them to a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from sardonyx import _native
from sardonyx._base.packages import package
from sardonyx._model.program import ONNXProgram
from sardonyx._runtime.values import to_runtime
from sardonyx.hf.base.example import Tensors
from sardonyx.hf.base.parts import Part, variants

from .adapter import SUFFIX, Adapter

_RANK = "lora_rank"
# Of the example; any rank runs.
_EXAMPLE = 3


def _names(path: str) -> tuple[str, str]:
    return f"{path}.lora_A.weight", f"{path}.lora_B.weight"


class AdapterInputs:
    """The layers that any of the adapters changes, and their inputs."""

    def __init__(self, adapters: Sequence[Adapter], model: torch.nn.Module) -> None:
        self._adapters = adapters
        self._model = model
        self._widths = {
            path: layer.widths for each in adapters for path, layer in each.layers.items()
        }

    @property
    def names(self) -> list[str]:
        """The inputs of the matrices."""
        return [name for path in self._widths for name in _names(path)]

    def part(self, part: Part) -> Part:
        """The part with the matrices as further inputs."""
        generator = torch.Generator().manual_seed(0)

        def noise(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator)

        inputs, dims = dict(part.inputs), dict(part.dims)
        for number, (path, (taken, given)) in enumerate(self._widths.items()):
            # An adapter may change some of the layers, so that ranks differ.
            rank = f"{_RANK}_{number}"
            down, up = _names(path)
            inputs |= {down: noise(taken, _EXAMPLE), up: noise(_EXAMPLE, given)}
            dims |= {down: {1: rank}, up: {0: rank}}
        others: dict[str, Any] = {
            name: self.part(other)
            for name in ("one_token", "one_row", "unpadded")
            if (other := getattr(part, name)) is not None
        }
        return replace(part, inputs=inputs, dims=dims, **others)

    @contextmanager
    def in_force(self, part: Part) -> Iterator[None]:
        """Within it, the layers of the model add what the inputs of a run come to."""
        given: Tensors = {}
        modules = {id(each.module): each.module for each in variants(part)}

        def take(_: Any, args: tuple[Any, ...]) -> Any:
            inputs = dict(args[0])
            given.update({name: inputs.pop(name) for name in self.names})
            return (inputs, *args[1:])

        with ExitStack() as hooks:
            for module in modules.values():
                hooks.callback(module.register_forward_pre_hook(take).remove)
            for path in self._widths:
                layer = self._model.get_submodule(path)
                hook = layer.register_forward_hook(_adding(given, *_names(path)))
                hooks.callback(hook.remove)
            yield

    def give_defaults(self, program: ONNXProgram) -> None:
        """Matrices that callers leave out are zeros of rank 1. Of rank 0, ONNX Runtime 1.31 leaves
        what was in memory in the product."""
        for path, (taken, given) in self._widths.items():
            down, up = _names(path)
            _native.set_zero_default(program._native, down, [taken, 1])
            _native.set_zero_default(program._native, up, [1, given])

    def write(self, program: ONNXProgram, folder: Path) -> list[Path]:
        """Writes a file for each adapter, in the types of the model's inputs; returns the files."""
        runtime = package("onnxruntime", "writing adapters")
        types = {name: dtype for name, dtype, _ in program._native.inputs}
        files = []
        for adapter in self._adapters:
            values = {}
            for path, layer in adapter.layers.items():
                for name, matrix in zip(_names(path), layer.matrices(), strict=True):
                    values[name] = to_runtime(matrix.to(getattr(torch, types[name])))
            made = runtime.AdapterFormat()
            made.set_adapter_version(1)
            made.set_model_version(1)
            made.set_parameters(values)
            files.append(folder / f"{adapter.name}{SUFFIX}")
            made.export_adapter(str(files[-1]))
        return files


def _adding(given: Tensors, down: str, up: str) -> Any:
    def add(_: Any, args: tuple[Any, ...], output: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = output + args[0] @ given[down] @ given[up]
        return added

    return add

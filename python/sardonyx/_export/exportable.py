"""`ExportableModule`."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import torch

from sardonyx._model.program import ONNXProgram

from .export import export


class ExportableModule(torch.nn.Module, abc.ABC):
    """A module that says with which inputs it is to be exported, as torch.onnx's.

    class Doubled(sardonyx.ExportableModule):
        def forward(self, x):
            return x * 2

        def example_arguments(self):
            return (torch.randn(2, 3),), None

        def dynamic_shapes(self):
            return ({0: "batch"},)

    Doubled().to_onnx("doubled.onnx")
    """

    @abc.abstractmethod
    def example_arguments(self) -> tuple[tuple[Any, ...], dict[str, Any] | None]:
        """Positional inputs, and those by keyword."""

    def dynamic_shapes(self) -> Any:
        """As of `export`; None makes all dimensions constant."""
        return None

    def input_names(self) -> Sequence[str] | None:
        """Names for the first inputs."""
        return None

    def output_names(self) -> Sequence[str] | None:
        """Names for the first outputs."""
        return None

    def to_onnx(self, f: Any = None, **options: Any) -> ONNXProgram:
        """`export` of the module with its own inputs; `options` are those of `export`."""
        return export(self, (), f, **options)

"""The first step of `dynamo_export` alone."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from sardonyx._capture.capture import capture
from sardonyx._capture.shapes.dynamic_shapes import prepare
from sardonyx._capture.strategies.callables import as_module

from .options import ExportOptions

if TYPE_CHECKING:
    import torch


def all_dynamic(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Every axis of every tensor as Dim.AUTO, which stays constant where the model needs that."""
    import torch

    from sardonyx._torch_private import pytree

    def axes(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return None
        return dict.fromkeys(range(leaf.dim()), torch.export.Dim.AUTO)

    if isinstance(model, torch.export.ExportedProgram):
        return None
    function = model.forward if isinstance(model, torch.nn.Module) else model
    bound = inspect.signature(function).bind(*args, **kwargs)
    return {name: pytree.tree_map(axes, value) for name, value in bound.arguments.items()}


class FXGraphExtractor:
    """Extracts the FX graph of a PyTorch model: the first step of `dynamo_export`."""

    def generate_fx(
        self,
        options: ExportOptions,
        model: Any,
        model_args: tuple[Any, ...],
        model_kwargs: dict[str, Any],
    ) -> torch.fx.GraphModule:
        """The graph of ATen calls that torch.export captures of a module or function.

        Weights and buffers are inputs, before the others; every size is dynamic where
        `options.dynamic_shapes` says so. Raises CaptureError with what each strategy said.
        """
        shapes = all_dynamic(model, model_args, model_kwargs) if options.dynamic_shapes else None
        module = as_module(model)
        dynamic = prepare(module, model_args, model_kwargs, shapes)
        captured = capture(module, model_args, model_kwargs, dynamic, report=lambda _text: None)
        graph: torch.fx.GraphModule = captured.program.graph_module
        return graph

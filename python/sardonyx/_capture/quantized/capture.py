"""What holds while a model of quantized tensors is captured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from sardonyx._torch_private import pytree, state

from . import functions  # noqa: F401 (fills the table of rules)
from .makers import MAKERS
from .names import name_of
from .packed import is_packed, unpacked
from .rules import UnsupportedError
from .tensor import Quantized

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def holds_quantized_tensors(program: ExportedProgram) -> bool:
    """Whether torch.export captured a quantized tensor, which it takes for one of float32."""
    graphs = (m.graph for m in program.graph_module.modules() if hasattr(m, "graph"))
    return any(makes_quantized(node.target) for graph in graphs for node in graph.nodes)


def makes_quantized(target: Any) -> bool:
    """Whether a call's target gives a quantized tensor."""
    return not isinstance(target, str) and name_of(target) in MAKERS


def speaks_of_quantized_tensors(model: torch.nn.Module, error: Exception | None) -> bool:
    """Whether a failed capture may be due to them: by what the model holds, or by the error."""
    message = str(error)
    return any(word in message for word in _WORDS) or any(True for _ in _held(model))


# What errors about them say; those about quantized_decomposed, which is captured, do not.
_WORDS = (
    "quantized.", "quantized tensors", "quantized nyi", "QuantizedCPU", "QuantizedMeta",
    "aten.quantize_per_", "aten.dequantize", "aten.int_repr", "aten.q_",
)  # fmt: skip


@contextmanager
def plain_integers(model: torch.nn.Module) -> Iterator[None]:
    """Within it, `model` computes with integers beside their scale and zero point where it has
    quantized tensors and packed weights. Afterwards it is what it was. Raises UnsupportedError."""
    stand_ins = [(module, name, _stand_in(held)) for module, name, held in _held(model)]
    with ExitStack() as undo:
        for module, name, stand_in in stand_ins:
            _replace(module, name, stand_in, undo)
        undo.callback(model.register_forward_hook(_refuse_outputs).remove)
        undo.enter_context(_Quantizing())
        yield


def _held(model: torch.nn.Module) -> Iterator[tuple[torch.nn.Module, str, Any]]:
    """Attributes that torch.export cannot hold, or would take for inputs of the graph."""
    for module in model.modules():
        # Some keep the scale and zero point of their result as buffers, and read them as numbers.
        numbers = type(module).__module__.startswith("torch.ao.nn.")
        for name, held in {
            **state.parameters_of(module),
            **state.buffers_of(module),
            **vars(module),
        }.items():
            if isinstance(held, torch.Tensor):
                if held.is_quantized or (numbers and name.endswith(("scale", "zero_point"))):
                    yield module, name, held
            elif is_packed(held):
                yield module, name, held


def _stand_in(held: Any) -> Any:
    if not isinstance(held, torch.Tensor):
        return unpacked(held)
    return Quantized.of(held) if held.is_quantized else held.item()


def _refuse_outputs(_module: Any, _inputs: Any, outputs: Any) -> None:
    if any(isinstance(leaf, Quantized) for leaf in pytree.tree_leaves(outputs)):
        raise UnsupportedError(
            "the model returns a quantized tensor, which ONNX does not have; "
            "return its dequantize() or its int_repr()"
        )


def _replace(module: torch.nn.Module, name: str, stand_in: Any, undo: ExitStack) -> None:
    places: tuple[dict[str, Any], ...] = (
        state.parameters_of(module),
        state.buffers_of(module),
        vars(module),
    )
    place = next(place for place in places if name in place)
    undo.callback(place.__setitem__, name, place.pop(name))
    undo.callback(vars(module).pop, name)
    vars(module)[name] = stand_in


class _Quantizing(TorchFunctionMode):
    """Catches the functions that make quantized tensors of others."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if rule := MAKERS.get(name_of(function)):
            return rule(*args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))

"""Models that torch.export does not capture, by what torch.jit.trace saw of them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.jit import TracerWarning as _TracerWarning  # type: ignore[attr-defined]

from .frozen import Frozen
from .places import Place, scripted_place
from .torchscript import as_module


def traced(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], frozen: Frozen
) -> torch.nn.Module:
    """A module of the operators that the example runs through, with the same parameters.

    Branches and loops of Python that depend on data are as the example took them; `frozen` gets
    their lines, and those of scripted functions, which stay what they are. Raises what
    torch.jit.trace raises.
    """
    bound = inspect.signature(model.forward).bind(*args, **kwargs)
    with torch.no_grad():
        with _tracer_warnings(frozen):
            script = torch.jit.trace(model, bound.args, check_trace=False)
        frozen.scripted += _decided_by_data(script)
        return as_module(script, bound.args, {})


@contextmanager
def _tracer_warnings(frozen: Frozen) -> Iterator[None]:
    """Within it, `frozen` gets what PyTorch warns of as frozen by tracing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", _TracerWarning)
        yield
    for each in caught:
        if issubclass(each.category, _TracerWarning):
            frozen.python.append(Place(each.filename, each.lineno))
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


# What makes a number of a tensor.
_READS = frozenset(
    f"aten::{name}"
    for name in ("Bool", "Int", "Float", "item", "is_nonzero", "ScalarImplicit", "IntImplicit",
                 "FloatImplicit")
)  # fmt: skip


def _decided_by_data(script: Any) -> list[Place]:
    """The branches and loops on data in scripted functions: a trace has no others."""
    graph = script.inlined_graph
    nodes = [*graph.findAllNodes("prim::Loop"), *graph.findAllNodes("prim::If")]
    places = (scripted_place(node.sourceRange()) for node in nodes if _reads_data(_deciding(node)))
    return [place for place in places if place is not None]


def _deciding(node: Any) -> list[Any]:
    """The values that decide which way a branch or loop goes."""
    values = list(node.inputs())
    if node.kind() == "prim::If":
        return values[:1]
    (body,) = node.blocks()
    return [*values[:2], next(iter(body.outputs()))]


def _reads_data(values: list[Any]) -> bool:
    """Whether a tensor's elements, and not its sizes alone, say what the values are."""
    seen: set[int] = set()
    rest = list(values)
    while rest:
        value = rest.pop()
        if value.unique() in seen:
            continue
        seen.add(value.unique())
        node = value.node()
        inputs = list(node.inputs())
        if node.kind() in _READS and _is_tensor(inputs[0]):
            source = inputs[0].node()
            # Tracing makes tensors of sizes.
            if source.kind() != "prim::NumToTensor":
                return True
            inputs = list(source.inputs())
        elif any(map(_is_tensor, inputs)):
            continue  # a size, or another fact of a tensor
        rest += inputs
        rest += [output for block in node.blocks() for output in block.outputs()]
    return False


def _is_tensor(value: Any) -> bool:
    return bool(value.type().kind() == "TensorType")

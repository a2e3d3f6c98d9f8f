"""Numbers that a traced model gives to scripted functions: `loop(x, x.size(0))`, or `loop(x, n)` of
a tensor `n`, where the function declares an int. Tracing makes constants of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._torch_private import torchscript

# What makes a number of a declared type of a tensor.
_READS = {"int": "aten::Int", "float": "aten::Float", "bool": "aten::Bool"}
# Of the functions made here: two in one archive must not have one name.
_numbers = itertools.count()


@contextmanager
def numbers_kept_in_calls() -> Iterator[list[Any]]:
    """Within it, scripted functions and methods that a trace calls read their numbers of the
    tensors that they are given for them. Functions made for that are in the list: they live no
    longer than it, whatever the trace says of them."""
    native = torchscript.native()
    made: list[Any] = []
    run = native.ScriptFunction.__call__

    def keeping(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(function: Any, *args: Any, **kwargs: Any) -> Any:
            if not torchscript.is_tracing():
                return call(function, *args, **kwargs)
            owner = [function.owner] if hasattr(function, "owner") else []
            parameters = function.schema.arguments[len(owner) :]
            given = given_by_name(parameters, args, kwargs)
            reads = {
                position + len(owner): _READS[str(p.type)]
                for position, p in enumerate(parameters)
                if str(p.type) in _READS and isinstance(given.get(p.name), torch.Tensor)
            }
            if not reads or len(given) != len(parameters) or len(args) > len(parameters):
                return call(function, *args, **kwargs)
            made.append(_reading(function, reads))
            return run(made[-1], *owner, *(given[p.name] for p in parameters))

        return called

    kinds = (native.ScriptFunction, native.ScriptMethod)
    with replaced(Replacement(kind, "__call__", keeping(kind.__call__)) for kind in kinds):
        yield made


def given_by_name(
    parameters: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """What the parameters of a schema are given, defaults included."""
    defaults = {p.name: p.default_value for p in parameters if p.has_default_value()}
    named = dict(zip((p.name for p in parameters), args, strict=False))
    return defaults | named | dict(kwargs)


def _reading(function: Any, reads: dict[int, str]) -> Any:
    """The same function of tensors, which reads those of its inputs as numbers."""
    native = torchscript.native()
    graph = function.graph.copy()
    inputs: Sequence[Any] = list(graph.inputs())
    for position, kind in reads.items():
        value = inputs[position]
        node = graph.create(kind, [value], 1)
        node.output().setType(value.type())
        graph.prependNode(node)
        value.setType(native.TensorType.get())
        value.replaceAllUsesAfterNodeWith(node, node.output())
    return torchscript.function_of(f"__torch__.reading_{next(_numbers)}", graph)

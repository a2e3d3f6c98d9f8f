"""Numbers that a traced model gives to operators by their names: `torch.ops.aten.view(x, [n, 2])`,
`torch.ops.mylib.op(x, n)`. Of these, and of those to functions that have a form without results, as
`torch.split_with_sizes_copy(x, [2, n])`, tracing makes constants."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.guards.data_dependence import varies
from sardonyx._capture.guards.specializations import Specializations
from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._capture.source_location import user_place
from sardonyx._torch_private import operators, torchscript

from .no_trace import unrecorded
from .script_calls import given_by_name

_native = torchscript.native()
# What reads a number of a tensor for a parameter of this type.
_READS = {"int": "aten::Int", "float": "aten::Float", "number": "aten::ScalarImplicit"}
# Of the functions made here: two in one archive must not have one name.
_numbers = itertools.count()


@contextmanager
def numbers_kept_in_operators(specializations: Specializations, made: list[Any]) -> Iterator[None]:
    """Within it, such a call is recorded as one of a function that reads the numbers of tensors;
    these functions go into `made`, and live no longer. `specializations` gets the lines of
    what no function can be made of."""

    def keeping(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(op: Any, *args: Any, **kwargs: Any) -> Any:
            if not torchscript.is_tracing() or not _has_number((args, kwargs)):
                return call(op, *args, **kwargs)
            with unrecorded():
                overload = _overload(op, args, kwargs)
            schema = operators.schema_of(overload)
            given = None if schema is None else _by_parameter(schema, args, kwargs)
            if given is None or not _freezes(schema, given):
                return call(op, *args, **kwargs)
            try:
                function, tensors = _function(schema, given)
            except (RuntimeError, TypeError):
                if (place := user_place()) is not None:
                    specializations.python.append(place)
                return call(op, *args, **kwargs)
            made.append(function)
            return function(*tensors)

        return called

    kinds = (operators.overload_type(), operators.packet_type())
    with replaced(Replacement(kind, "__call__", keeping(kind.__call__)) for kind in kinds):
        yield


def _is_number(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() == 0


def _has_number(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_number, value))
    if isinstance(value, dict):
        return _has_number(list(value.values()))
    return _is_number(value)


def _stand_in(number: torch.Tensor) -> float | int:
    """A number of that type: reading the tensor's own would be reported as data-dependent."""
    return 0.0 if number.is_floating_point() else 0


def _plain(value: Any) -> Any:
    """With numbers in place of the tensors in lists, which decide no overload."""
    if isinstance(value, (list, tuple)):
        return [_stand_in(each) if _is_number(each) else _plain(each) for each in value]
    return value


def _overload(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if operators.is_overload(op):
        return op
    try:
        given = {name: _plain(value) for name, value in kwargs.items()}
        name = torchscript.overload_name(operators.packet_name(op), *map(_plain, args), **given)
    except RuntimeError:
        return None
    return getattr(op, name)


def _by_parameter(schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The arguments in the order of the schema; None where it has others."""
    names = [parameter.name for parameter in schema.arguments]
    given = given_by_name(schema.arguments, args, kwargs)
    return [given[name] for name in names] if set(given) == set(names) else None


def _kind(parameter: Any) -> str:
    return str(parameter.type).removeprefix("Optional[").removeprefix("List[").rstrip("]")


def _has_varying_number(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_varying_number, value))
    return _is_number(value) and varies(value)


def _freezes(schema: Any, given: Sequence[Any]) -> bool:
    return any(
        _kind(parameter) in ("int", "float") and _has_varying_number(value)
        for parameter, value in zip(schema.arguments, given, strict=True)
    )


def _function(schema: Any, given: Sequence[Any]) -> tuple[Any, list[torch.Tensor]]:
    """The operator as a function of the tensors among its arguments, numbers included."""
    graph = _native.Graph()
    tensors: list[torch.Tensor] = []

    def node(kind: str, inputs: Sequence[Any], types: Sequence[Any]) -> list[Any]:
        made = graph.create(kind, list(inputs), len(types))
        graph.appendNode(made)
        outputs = list(made.outputs())
        for output, each in zip(outputs, types, strict=True):
            output.setType(each)
        return outputs

    def value(given: Any, kind: str) -> Any:
        if kind in _READS and _is_number(given) and not varies(given):
            with unrecorded():
                given = given.item()
        if isinstance(given, torch.Tensor):
            tensors.append(given)
            found = graph.addInput()
            found.setType(_native.TensorType.get())
            return node(_READS[kind], [found], [_TYPES[kind]])[0] if kind in _READS else found
        if isinstance(given, (list, tuple)):
            items = [value(each, kind) for each in given]
            return node("prim::ListConstruct", items, [_native.ListType(_TYPES[kind])])[0]
        return graph.insertConstant(given)

    inputs = [value(v, _kind(p)) for v, p in zip(given, schema.arguments, strict=True)]
    outputs = node(schema.name, inputs, [each.type for each in schema.returns])
    if len(outputs) != 1:
        together = _native.TupleType([output.type() for output in outputs])
        outputs = node("prim::TupleConstruct", outputs, [together])
    graph.registerOutput(outputs[0])
    name = f"__torch__.called_{next(_numbers)}"
    return torchscript.function_of(name, graph), tensors


_TYPES: Mapping[str, Any] = {
    "int": _native.IntType.get(),
    "float": _native.FloatType.get(),
    "bool": _native.BoolType.get(),
    "number": _native.NumberType.get(),
    "Tensor": _native.TensorType.get(),
    "str": _native.StringType.get(),
}

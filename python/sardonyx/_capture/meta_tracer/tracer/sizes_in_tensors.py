"""Sizes that a model puts into tensors and reads out of them again: `torch.tensor([(h, w)])[0, 0]`,
`torch.div(length, 2, rounding_mode="floor")`.

torch.export takes what is read for data, of which nothing is known. It is one of the sizes, or made
of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.meta.aliases import written
from sardonyx._torch_private import modes, operators
from sardonyx._torch_private.sizes import is_always_true

_aten = torch.ops.aten
# The elements of a tensor, row by row, in lists; of a 0-d tensor its number.
Elements = Any
# What gives back the elements that it is given, in their order and places.
_SAME = (
    _aten.detach.default,
    _aten.detach_.default,
    _aten.alias.default,
    _aten.clone.default,
    _aten.lift_fresh_copy.default,
    _aten.to.device,
    _aten.to.dtype,
    modes.TO_COPY,
)
_FLOOR, _TRUNC = "floor", "trunc"
_MAX = 64  # elements of a tensor that may be sizes


class _UnknownError(Exception):
    """The tensor holds more than sizes, or something else is done to them."""


def held_sizes(node: torch.fx.Node, writes: Sequence[torch.fx.Node]) -> Any:
    """The number in a 0-d tensor that is made of sizes and integers; None where it is not, or where
    one of the `writes` may have changed it."""
    try:
        number = _elements(node)
    except _UnknownError:
        return None
    if not isinstance(number, (int, torch.SymInt)) or any(map(_is_to_integers, writes)):
        return None
    return number


def _is_to_integers(write: torch.fx.Node) -> bool:
    if not operators.is_overload(write.target):
        return True  # bodies
    arguments: list[torch.fx.Node] = []
    torch.fx.map_arg(list(written(write.target, write.args, write.kwargs)), arguments.append)
    return not all(map(_is_real, arguments))


def _is_real(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def _elements(argument: Any) -> Elements:
    """Of a tensor's node; numbers are themselves."""
    if isinstance(argument, (int, torch.SymInt)) and not isinstance(argument, bool):
        return argument
    if not isinstance(argument, torch.fx.Node):
        raise _UnknownError
    value = argument.meta.get("val")
    if isinstance(value, torch.SymInt):
        return value
    if argument.op == "placeholder":
        return _constant(argument, value)
    if argument.op != "call_function" or any(u.target is _aten.view.dtype for u in argument.users):
        raise _UnknownError
    if argument.target is operator.getitem:
        return _item(argument)
    rule = _RULES.get(argument.target)
    if rule is None or not isinstance(value, torch.Tensor) or value.dtype != torch.int64:
        raise _UnknownError
    return rule(*argument.args, **argument.kwargs)


def _constant(node: torch.fx.Node, value: Any) -> Elements:
    """What torch.tensor() makes of integers, which nobody writes to."""
    is_constant = all(user.target is _aten.lift_fresh_copy.default for user in node.users)
    if type(value) is not torch.Tensor or not is_constant or value.dtype != torch.int64:
        raise _UnknownError
    if value.numel() > _MAX:
        raise _UnknownError
    return value.tolist()


def _item(node: torch.fx.Node) -> Elements:
    """One of what unbind() gives."""
    parts, index = node.args
    if not isinstance(parts, torch.fx.Node) or parts.target is not _aten.unbind.int:
        raise _UnknownError
    return _selected(parts.args[0], (*parts.args, 0)[1], index)


def _given(x: Any, *_: Any, **__: Any) -> Elements:
    return _elements(x)


def _number(number: Any, **_: Any) -> Elements:
    return _elements(number)


def _stacked(tensors: Sequence[Any], dim: int = 0) -> Elements:
    if dim != 0:
        raise _UnknownError
    return [_elements(each) for each in tensors]


def _joined(tensors: Sequence[Any], dim: int = 0) -> Elements:
    if dim != 0:
        raise _UnknownError
    parts = [_elements(each) for each in tensors]
    return [row for part in parts for row in part]


def _selected(x: Any, dim: Any, index: Any) -> Elements:
    elements = _elements(x)
    if dim != 0 or type(index) is not int or not isinstance(elements, list):
        raise _UnknownError
    return elements[index]


def _each(elements: Elements, compute: Callable[[Any], Any]) -> Elements:
    if isinstance(elements, list):
        return [_each(each, compute) for each in elements]
    return compute(elements)


def _of_two(compute: Callable[[Any, Any], Any]) -> Callable[..., Elements]:
    """Element by element; one of the two is a number, or 0-d."""

    def rule(a: Any, b: Any, alpha: Any = 1) -> Elements:
        first, second = _elements(a), _elements(b)
        if isinstance(second, list) or alpha != 1:
            raise _UnknownError
        return _each(first, lambda each: compute(each, second))

    return rule


def _divided(a: Any, b: Any, *, rounding_mode: str | None = None) -> Elements:
    first, divisor = _elements(a), _elements(b)
    if type(divisor) is not int or divisor <= 0 or rounding_mode not in (_FLOOR, _TRUNC):
        raise _UnknownError

    def divide(number: Any) -> Any:
        if rounding_mode == _TRUNC and not is_always_true(number >= 0):
            raise _UnknownError
        return number // divisor

    return _each(first, divide)


def _floor_divided(a: Any, b: Any) -> Elements:
    return _divided(a, b, rounding_mode=_FLOOR)


_RULES: dict[Any, Callable[..., Elements]] = {
    **dict.fromkeys(_SAME, _given),
    _aten.scalar_tensor.default: _number,
    _aten.stack.default: _stacked,
    _aten.cat.default: _joined,
    _aten.select.int: _selected,
    **dict.fromkeys((_aten.add.Tensor, _aten.add.Scalar), _of_two(operator.add)),
    **dict.fromkeys((_aten.sub.Tensor, _aten.sub.Scalar), _of_two(operator.sub)),
    **dict.fromkeys((_aten.mul.Tensor, _aten.mul.Scalar), _of_two(operator.mul)),
    **dict.fromkeys((_aten.div.Tensor_mode, _aten.div.Scalar_mode), _divided),
    **dict.fromkeys((_aten.floor_divide.default, _aten.floor_divide.Scalar), _floor_divided),
}

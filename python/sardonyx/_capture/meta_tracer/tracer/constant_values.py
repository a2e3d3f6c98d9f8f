"""Tensors that a model computes of constants alone: `torch.ones(height, width).sum(dim=0)[0]`.

Where Python asks for such a number, or a size depends on such a tensor, it is the same in each run.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.meta.aliases import may_be_written
from sardonyx._capture.meta_tracer.meta.results import dims_of
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._torch_private import operators, pytree

from .tensor_items import NUMBERS

_aten = torch.ops.aten
# Those that need no tensor.
_FACTORIES = frozenset(
    (
        _aten.ones, _aten.zeros, _aten.full, _aten.arange, _aten.scalar_tensor, _aten.linspace,
        _aten.eye,
    )
)  # fmt: skip
# Those that read the sizes and the dtype of a tensor alone.
_OF_SIZES = frozenset(
    (
        _aten.ones_like, _aten.zeros_like, _aten.full_like, _aten.new_ones, _aten.new_zeros,
        _aten.new_full,
    )
)  # fmt: skip
_WITHOUT_VALUES = frozenset(
    (_aten.empty_like, _aten.new_empty, _aten.new_empty_strided, _aten.empty_permuted)
)
_CONSTANTS = (_aten.lift_fresh_copy.default,)
_PASSING = (operator.getitem, _aten.detach_.default)
_INDEX = _aten.index.Tensor
_MASKS = (torch.bool, torch.uint8)
_MAX_ELEMENTS = 1 << 22


class _UnknownError(Exception):
    """A tensor depends on something else than constants."""


class ConstantValues:
    """The values of tensors that are computed of constants, once each."""

    def __init__(self) -> None:
        self._values: dict[torch.fx.Node, Any] = {}  # tensors, or lists of them

    def of(self, tensor: Any, writes: Sequence[torch.fx.Node]) -> torch.Tensor | None:
        """None where the tensor depends on something else, or one of the `writes` may have changed
        it."""
        is_whole = type(tensor) is QuickTensor and not tensor.levels  # no part of a mapped tensor
        node = tensor.made_by if is_whole else None
        if node is None:
            return None
        try:
            value = self._value(node)
        except _UnknownError:
            return None
        return None if may_be_written(node, writes) else value

    def result(
        self,
        func: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        writes: Sequence[torch.fx.Node],
    ) -> Any:
        """What a call gives whose sizes depend on constants alone; None for all other calls."""
        if not _has_sizes_by_data(func):
            return None
        if func is _INDEX and not any(_is_mask(each) for each in args[1]):
            return None

        def known(argument: Any) -> Any:
            if isinstance(argument, NUMBERS):
                raise _UnknownError
            if not isinstance(argument, torch.Tensor):
                return argument
            value = self.of(argument, writes)
            if value is None and func is _INDEX and argument is args[0]:
                value = _of_sizes(argument)
            if value is None:
                raise _UnknownError
            return value

        try:
            given, named = pytree.tree_map(known, (tuple(args), dict(kwargs)))
        except _UnknownError:
            return None
        return pytree.tree_map(
            lambda each: QuickTensor.of(tuple(each.shape), tuple(each.stride()), each.dtype),
            func(*given, **named),
        )

    def _value(self, node: torch.fx.Node) -> Any:
        waiting = [node]
        while waiting:
            each = waiting[-1]
            needed = _computed_of(each) if each not in self._values else ()
            if missing := [source for source in needed if source not in self._values]:
                waiting += missing
                continue
            if each not in self._values:
                self._values[each] = self._computed(each)
            waiting.pop()
        return self._values[node]

    def _computed(self, node: torch.fx.Node) -> Any:
        if node.op == "placeholder":
            return node.meta["val"]
        known = self._values
        if _packet(node.target) in _OF_SIZES:
            known = {each: _sized(each) for each in node.all_input_nodes}
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), known.__getitem__)
        target: Any = node.target
        value = target(*args, **kwargs)
        if _kinds(value) != _kinds(node.meta["val"]):
            raise _UnknownError
        return value


def _kinds(value: Any) -> list[Any]:
    """The types and sizes of tensors; of one, or of a list."""
    tensors = value if isinstance(value, (list, tuple)) else [value]
    return [(each.dtype, tuple(dims_of(each))) for each in tensors]


def _sized(node: torch.fx.Node) -> torch.Tensor:
    value = node.meta.get("val")
    made = _of_sizes(value) if isinstance(value, torch.Tensor) else None
    if made is None:
        raise _UnknownError
    return made


def _of_sizes(tensor: torch.Tensor) -> torch.Tensor | None:
    """One like it, with any elements; None where its sizes are dynamic."""
    if not _has_constant_sizes(tensor):
        return None
    return torch.empty((), dtype=tensor.dtype).expand(tuple(dims_of(tensor)))


def _has_constant_sizes(tensor: torch.Tensor) -> bool:
    return all(type(size) is int for size in dims_of(tensor))


def _computed_of(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The tensors whose values it needs. Raises _UnknownError where the call may give something
    else each time, or is no call of tensors and numbers."""
    value = node.meta.get("val")
    if node.op == "placeholder":
        is_constant = all(user.target in _CONSTANTS for user in node.users)
        if type(value) is not torch.Tensor or not is_constant:
            raise _UnknownError
        return []
    if node.op != "call_function" or not _is_computed(node.target):
        raise _UnknownError
    for each in value if isinstance(value, (list, tuple)) else (value,):
        is_known = isinstance(each, torch.Tensor) and _has_constant_sizes(each)
        if not is_known or each.numel() > _MAX_ELEMENTS:
            raise _UnknownError
    if any(isinstance(each, NUMBERS) for each in pytree.arg_tree_leaves(*node.args)):
        raise _UnknownError
    if _packet(node.target) in _OF_SIZES:
        return []
    sources = list(node.all_input_nodes)
    if not sources and _packet(node.target) not in _FACTORIES:
        raise _UnknownError
    return sources


@functools.cache
def _is_computed(target: Any) -> bool:
    """Whether the operator computes the same each time, and writes to nothing."""
    if target in _PASSING:
        return True
    if not operators.is_overload(target) or _packet(target) in _WITHOUT_VALUES:
        return False
    is_random = torch.Tag.nondeterministic_seeded in target.tags
    return not is_random and not operators.schema_of(target).is_mutable


@functools.cache
def _has_sizes_by_data(func: Any) -> bool:
    tags = func.tags
    is_random = torch.Tag.nondeterministic_seeded in tags
    is_mutable = operators.schema_of(func).is_mutable
    return torch.Tag.dynamic_output_shape in tags and not is_random and not is_mutable


def _packet(target: Any) -> Any:
    return getattr(target, "overloadpacket", None)


def _is_mask(argument: Any) -> bool:
    return isinstance(argument, torch.Tensor) and argument.dtype in _MASKS

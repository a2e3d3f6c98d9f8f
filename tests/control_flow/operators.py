"""Control flow as programs write it. Under capture it is PyTorch's; in eager runs, which PyTorch
would compile, it is plain Python, and the ways that branches take are noted."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops import associative_scan as _associative_scan
from torch._higher_order_ops import scan as _scan
from torch._higher_order_ops import while_loop as _while_loop
from torch._higher_order_ops.map import map as _map
from torch.utils import _pytree as pytree

# Line of a branch or a loop to the ways it went: the predicate, or whether it ran at all.
WAYS: dict[int, set[bool]] = defaultdict(set)


def _captured() -> bool:
    return torch.compiler.is_compiling() or torch.compiler.is_exporting()


def _note(way: bool) -> None:
    WAYS[sys._getframe(2).f_lineno].add(way)


def cond(
    predicate: Any, if_true: Callable[..., Any], if_false: Callable[..., Any], operands: Any = ()
) -> Any:
    if _captured():
        return torch.cond(predicate, if_true, if_false, operands)
    _note(bool(predicate))
    return if_true(*operands) if predicate else if_false(*operands)


def while_loop(go_on: Callable[..., Any], step: Callable[..., Any], carried: Any) -> Any:
    if _captured():
        return _while_loop(go_on, step, carried)
    first = carried
    while go_on(*carried):
        carried = step(*carried)
    _note(carried is not first)
    return pytree.tree_map(lambda x: x.clone() if isinstance(x, Tensor) else x, tuple(carried))


def scan(
    combine: Callable[..., Any], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> Any:
    if _captured():
        return _scan(combine, init, xs, dim=dim, reverse=reverse)
    leaves, spec = pytree.tree_flatten(xs)
    carry, parts = init, []
    places = range(leaves[0].shape[dim])
    for i in reversed(places) if reverse else places:
        carry, part = combine(
            carry, pytree.tree_unflatten([x.select(dim, i) for x in leaves], spec)
        )
        parts.append(part)
    if reverse:
        parts.reverse()
    axis = _stacking_axis(dim)
    return carry, pytree.tree_map(lambda *each: torch.stack(each, axis), *parts)


def _stacking_axis(dim: int) -> int:
    """The axis of what torch's scan stacks, where it scans along `dim`."""
    return dim if _stacks_along_dim() else 0


@functools.cache
def _stacks_along_dim() -> bool:
    """Whether torch's scan moves what it has stacked to the dimension that it scans. It compiles
    what it runs, so that asking it takes seconds: its code tells."""
    return "torch.movedim(elem, 0, dim)" in inspect.getsource(_scan)


def over_rows(function: Callable[..., Any], xs: Any, *others: Any) -> Any:
    """torch's map."""
    if _captured():
        return _map(function, xs, *others)
    leaves, spec = pytree.tree_flatten(xs)
    parts = [
        function(pytree.tree_unflatten([x[i] for x in leaves], spec), *others)
        for i in range(leaves[0].shape[0])
    ]
    return pytree.tree_map(lambda *each: torch.stack(each), *parts)


def associative_scan(combine: Callable[..., Any], xs: Any, dim: int, reverse: bool = False) -> Any:
    if _captured():
        return _associative_scan(combine, xs, dim, reverse, combine_mode="generic")

    def step(carry: Any, x: Any) -> Any:
        return (made := combine(carry, x)), made

    leaves, spec = pytree.tree_flatten(xs)
    last = leaves[0].shape[dim] - 1
    first = [x.select(dim, last if reverse else 0) for x in leaves]
    rest = [x.narrow(dim, 0 if reverse else 1, last) for x in leaves]
    start = pytree.tree_unflatten(first, spec)
    _, made = scan(step, start, pytree.tree_unflatten(rest, spec), dim=dim, reverse=reverse)
    ends = [x.unsqueeze(dim) for x in first]
    stacked = [x.movedim(_stacking_axis(dim), dim) for x in pytree.tree_leaves(made)]
    parts = zip(ends, stacked, strict=True)
    joined = [torch.cat([b, a] if reverse else [a, b], dim) for a, b in parts]
    return pytree.tree_unflatten(joined, spec)

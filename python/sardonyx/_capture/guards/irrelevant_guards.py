"""Questions whose answer changes nothing: `length > 1 and mask is None`, where there is a mask;
`if x.numel() == 0: return 0`, before `return x.shape[0]`, where that is 0."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Mapping
from types import FrameType, ModuleType
from typing import Any

from sardonyx._capture.source_location import parsed

# Functions that say how the code is run, and do nothing else, by the end of the name.
_OF_THE_RUN = ("compiling", "exporting", "tracing", "scripting")
_UNKNOWN = object()


def is_immaterial(frame: FrameType) -> bool:
    """Whether the `and` or `or` that asks something at the present instruction of `frame` is
    decided by another part of it, whatever the answer is."""
    place = _place(frame)
    if place is None:
        return False
    around = _around(frame.f_code.co_filename, place)
    outermost = next((each for each in around if isinstance(each, ast.BoolOp)), None)
    return outermost is not None and _is_decided(outermost, frame)


def returns_the_same(frame: FrameType, sizes: Mapping[str, int]) -> bool:
    """Whether the `if` that asks something at the present instruction of `frame` returns the same
    number either way, where these symbols are these sizes."""
    place = _place(frame)
    if place is None:
        return False
    results = _returned(_around(frame.f_code.co_filename, place))
    if results is None:
        return False
    one, other = (_number(each, frame, sizes) for each in results)
    return one is not None and one == other


def _place(frame: FrameType) -> tuple[int, int] | None:
    """Line and column of the present instruction."""
    # Python 3.10 does not say where in its line an instruction stands.
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    line, _, column, _ = next(itertools.islice(positions(), frame.f_lasti // 2, None))
    return None if line is None or column is None else (line, column)


@functools.lru_cache(maxsize=4096)
def _around(file: str, place: tuple[int, int]) -> tuple[ast.AST, ...]:
    """What stands around a place in the code of a file, the outermost first."""
    module = parsed(file)
    return (module, *_parts_around(module, place))


def _parts_around(node: ast.AST, place: tuple[int, int]) -> tuple[ast.AST, ...]:
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno"):  # the arguments of a function, say
            if found := _parts_around(child, place):
                return found
        elif _is_within(place, child):
            return (child, *_parts_around(child, place))
    return ()


def _is_within(place: tuple[int, int], node: Any) -> bool:
    begin = node.lineno, node.col_offset
    return begin <= place < (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _returned(around: tuple[ast.AST, ...]) -> tuple[ast.expr, ast.expr] | None:
    """What is returned either way by the `if` whose test is the innermost of these; None where it
    does more than that."""
    for block, branch in itertools.pairwise(around):
        body = getattr(block, "body", None)
        if not isinstance(branch, ast.If) or not isinstance(body, list) or branch not in body:
            continue
        after = next(iter(body[body.index(branch) + 1 :]), None)
        taken = branch.body[0]
        if branch.test not in around or len(branch.body) != 1 or branch.orelse:
            continue
        if not isinstance(taken, ast.Return) or not isinstance(after, ast.Return):
            continue
        if taken.value is not None and after.value is not None:
            return taken.value, after.value
    return None


def _number(node: ast.expr, frame: FrameType, sizes: Mapping[str, int]) -> int | None:
    """The integer that the expression is at these sizes; None where that is not known."""
    import torch

    value = _size(node, frame)
    if not isinstance(value, torch.SymInt):
        return value if type(value) is int else None
    expression = value.node.expr
    at = {symbol: sizes[str(symbol)] for symbol in expression.free_symbols if str(symbol) in sizes}
    known = expression.subs(at)
    return int(known) if known.is_Integer else None


def _size(node: ast.expr, frame: FrameType) -> Any:
    """A number, or a size of a tensor that a variable or an attribute holds."""
    import torch

    if not isinstance(node, ast.Subscript):
        return _value(node, frame)
    if not isinstance(node.value, ast.Attribute) or node.value.attr != "shape":
        return _UNKNOWN
    try:
        axis = ast.literal_eval(node.slice)
    except ValueError:
        return _UNKNOWN
    holder = _held(node.value.value, frame)
    if not isinstance(holder, torch.Tensor) or type(axis) is not int:
        return _UNKNOWN
    return holder.shape[axis] if -holder.dim() <= axis < holder.dim() else _UNKNOWN


def _held(node: ast.expr, frame: FrameType) -> Any:
    """What a variable, or an attribute of its own, holds: no code of the model runs."""
    if isinstance(node, ast.Attribute):
        return getattr(_held(node.value, frame), "__dict__", {}).get(node.attr, _UNKNOWN)
    return _value(node, frame)


def _is_decided(node: ast.BoolOp, frame: FrameType) -> bool:
    deciding = isinstance(node.op, ast.Or)
    known = (_truth(each, frame) for each in node.values)
    return any(truth is not _UNKNOWN and truth is deciding for truth in known)


def _truth(node: ast.expr, frame: FrameType) -> Any:
    """What the expression is, of those whose value can be had without running code of the model."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        truth = _truth(node.operand, frame)
        return truth if truth is _UNKNOWN else not truth
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.Or) if _is_decided(node, frame) else _UNKNOWN
    value = _value(node, frame)
    return bool(value) if value is None or isinstance(value, bool) else _UNKNOWN


def _value(node: ast.expr, frame: FrameType) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        found = frame.f_locals.get(node.id, _UNKNOWN)
        return frame.f_globals.get(node.id, _UNKNOWN) if found is _UNKNOWN else found
    if isinstance(node, ast.Attribute):
        holder = _value(node.value, frame)
        is_module = isinstance(holder, ModuleType)
        return getattr(holder, node.attr, _UNKNOWN) if is_module else _UNKNOWN
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _value(node.left, frame), _value(node.comparators[0], frame)
        known = left is not _UNKNOWN and right is not _UNKNOWN
        if not known or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return _UNKNOWN
        return (left is right) is isinstance(node.ops[0], ast.Is)
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        function = _value(node.func, frame)
        if getattr(function, "__name__", "").endswith(_OF_THE_RUN):
            return function()
    return _UNKNOWN

"""Questions whose answer changes nothing: `length > 1 and mask is None`, where there is a mask."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from sardonyx._capture.source_location import parsed

# Functions that say how the code is run, and do nothing else, by the end of the name.
_OF_THE_RUN = ("compiling", "exporting", "tracing", "scripting")
_UNKNOWN = object()


def is_immaterial(frame: FrameType) -> bool:
    """Whether the `and` or `or` that asks something at the present instruction of `frame` is
    decided by another part of it, whatever the answer is."""
    # Python 3.10 does not say where in its line an instruction stands.
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return False
    line, _, column, _ = next(itertools.islice(positions(), frame.f_lasti // 2, None))
    place = (line, column)
    return None not in place and any(
        _begin(each) <= place < _end(each) and _is_decided(each, frame)
        for each in _all_joined(frame.f_code.co_filename)
    )


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


@functools.lru_cache(maxsize=64)
def _all_joined(file: str) -> tuple[ast.BoolOp, ...]:
    return tuple(_outermost(parsed(file)))


def _outermost(node: ast.AST) -> Iterator[ast.BoolOp]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.BoolOp):
            yield child
        else:
            yield from _outermost(child)


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

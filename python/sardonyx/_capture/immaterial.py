"""Questions whose answer changes nothing: `length > 1 and mask is None`, where there is a mask."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

# Functions that say how the code is run, and do nothing else, by the end of the name.
_OF_THE_RUN = ("compiling", "exporting", "tracing", "scripting")
_UNKNOWN = object()


def is_immaterial(frame: FrameType) -> bool:
    """Whether what the line that runs in `frame` joins with `and` and `or` is decided by another
    part of it, whatever the answer to what it asks now."""
    joined = _joined_on(frame.f_code.co_filename, frame.f_lineno)
    return any(_is_decided(node, frame) for node in joined)


@functools.lru_cache(maxsize=1024)
def _joined_on(file: str, line: int) -> tuple[ast.BoolOp, ...]:
    return tuple(n for n in _all_joined(file) if n.lineno <= line <= (n.end_lineno or n.lineno))


@functools.lru_cache(maxsize=64)
def _all_joined(file: str) -> tuple[ast.BoolOp, ...]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    return tuple(_outermost(tree))


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

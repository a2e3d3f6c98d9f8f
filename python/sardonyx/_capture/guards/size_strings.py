"""Strings of symbolic sizes: `len(str(x.shape[0]))`. Capture has a symbol's name in them, or the
example's size, and no model can have another string for each size."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._capture.source_location import parsed

# Functions that show a string to people, by the last part of their names.
_SHOWING = frozenset({
    *("print", "warn", "warning", "warning_once", "debug", "info", "info_once", "error"),
    *("exception", "critical", "log", "write", "record_function", "_assert", "_check"),
})  # fmt: skip
# Functions that make a number of a string.
_COUNTING = frozenset({"len", "int", "float", "ord", "hash"})


@contextmanager
def watched_strings(on_string: Callable[[Any], None]) -> Iterator[None]:
    """Within it, `on_string` is called with each symbolic size that Python makes a string of."""
    import torch

    def heard(method: Callable[[Any], str]) -> Callable[[Any], str]:
        def text(size: Any) -> str:
            on_string(size)
            return method(size)

        return text

    kinds: tuple[Any, ...] = (torch.SymInt, torch.SymFloat, torch.SymBool)
    names = ("__repr__", "__str__")
    with replaced(
        Replacement(kind, name, heard(vars(kind)[name]))
        for kind in kinds
        for name in names
        if name in vars(kind)
    ):
        yield


def is_shown_alone(frame: FrameType) -> bool:
    """Whether the string that `frame` makes goes into a message, which no result depends on."""
    for each in _enclosing(frame):
        if isinstance(each, (ast.Raise, ast.Assert)):
            return True
        if isinstance(each, ast.Call):
            name = _called(each)
            if name in _SHOWING or name.endswith(("Error", "Exception", "Warning")):
                return True
    return False


def is_computed_with(frame: FrameType) -> bool:
    """Whether it is compared, or becomes a number, within the same expression."""
    return any(
        isinstance(each, ast.Compare) or (isinstance(each, ast.Call) and _called(each) in _COUNTING)
        for each in _enclosing(frame)
    )


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def _enclosing(frame: FrameType) -> Iterator[ast.AST]:
    """The expressions and simple statements around the present instruction of a frame."""
    # Python 3.10 does not report where in its line an instruction stands.
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return
    line, end, column, end_column = next(itertools.islice(positions(), frame.f_lasti // 2, None))
    if None in (line, end, column, end_column):
        return
    for node in ast.walk(parsed(frame.f_code.co_filename)):
        if not isinstance(node, (ast.expr, ast.Raise, ast.Assert)):
            continue
        begins = (node.lineno, node.col_offset) <= (line, column)
        if begins and (end, end_column) <= (node.end_lineno or 0, node.end_col_offset or 0):
            yield node

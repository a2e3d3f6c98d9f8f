"""What functions hold besides their arguments: a body of control flow must not change it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType
from typing import Any

from sardonyx._capture.meta_tracer.fallback import DeclinedError


@contextmanager
def unchanged_by_running(function: Callable[..., Any]) -> Iterator[None]:
    """Declines a function that changes a variable, a list or a dictionary that it reaches: eager
    PyTorch runs one body, or one often, and capture each of them once."""
    before = [(cell, *_seen(cell)) for cell in _cells(function, set())]
    yield
    for cell, content, parts in before:
        now, parts_now = _seen(cell)
        if (
            now is not content
            or len(parts) != len(parts_now)
            or any(a is not b for a, b in zip(parts, parts_now, strict=True))
        ):
            raise DeclinedError("a body changes what stands outside of it")


def _cells(function: Any, known: set[int]) -> Iterator[CellType]:
    if id(function) in known:
        return
    known.add(id(function))
    inner: list[Any] = []
    if isinstance(function, functools.partial):
        inner = [function.func, *function.args, *function.keywords.values()]
    else:
        inner = [getattr(function, "__func__", None), getattr(function, "__wrapped__", None)]
        for cell in getattr(function, "__closure__", None) or ():
            yield cell
            inner.append(_content(cell))
    for each in inner:
        if callable(each):
            yield from _cells(each, known)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable without a value as yet
        return None


def _seen(cell: CellType) -> tuple[Any, list[Any]]:
    content = _content(cell)
    if isinstance(content, dict):
        return content, [*content.keys(), *content.values()]
    return content, list(content) if isinstance(content, (list, set)) else []

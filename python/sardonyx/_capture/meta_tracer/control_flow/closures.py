"""What functions hold besides their arguments: a body of control flow must not change it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CellType, ModuleType
from typing import Any

import torch

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


@contextmanager
def keeping_objects(*reached: Any) -> Iterator[None]:
    """Declines code that changes an object that it reaches by `reached`: a counter in an attribute,
    say, which code that runs once counts up once."""
    before = _reached(reached)
    yield
    after = _reached(reached)
    if len(before) != len(after) or not all(
        len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
        for one, other in zip(before, after, strict=True)
    ):
        raise DeclinedError("the body of a loop changes an object that stands outside of it")


def _reached(objects: Sequence[Any]) -> list[list[Any]]:
    """The parts of each object that these reach, by the variables of functions too, in order."""
    known: dict[int, Any] = {}
    found = []
    waiting: list[Any] = list(objects)
    while waiting:
        each = waiting.pop()
        if id(each) in known:
            continue
        known[id(each)] = each  # whose identity nothing else gets meanwhile
        parts = _parts(each)
        found.append(parts)
        waiting += parts
    return found


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, (torch.Tensor, type, ModuleType)) or _is_of_libraries(value):
        return []
    cells = [_content(cell) for cell in getattr(value, "__closure__", None) or ()]
    own = getattr(value, "__self__", None)
    attributes = getattr(value, "__dict__", {})
    return [own, *cells, *attributes.keys(), *attributes.values()]


def _is_of_libraries(value: Any) -> bool:
    """Whether it is a function or an object of PyTorch's or ours, but no module of a model."""
    if isinstance(value, torch.nn.Module):
        return False
    owner = getattr(value, "__module__", None) or type(value).__module__
    return str(owner).partition(".")[0] in ("torch", "sardonyx", "sympy")


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

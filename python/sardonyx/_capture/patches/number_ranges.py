"""Tensors of the numbers of a `range` that ends at a size: `torch.tensor(list(range(n)))`.

Python's numbers are those of the example's size. The expression says all that they depend on, so
that the tensor is computed of the size.
"""

from __future__ import annotations

import ast
import dis
import functools
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from sardonyx._capture.source_location import parsed

from .other_calls import calling_others, functions_of
from .patching import Replacement, replaced

# What makes a tensor of numbers, and the arguments that a tensor of a size is made with.
_MAKERS = ("tensor", "as_tensor")
_ARGUMENTS = frozenset({"dtype", "device"})
_COPIES = {"list": list, "tuple": tuple}
_Position = tuple[int | None, int | None]


@dataclass(frozen=True)
class SizeRange:
    """`count` integers from `start` on, `step` apart."""

    start: Any
    step: Any
    count: Any

    def __getitem__(self, backwards: slice) -> SizeRange:
        """From the last integer on, which `[::-1]` asks for. TypeError of any other index."""
        if backwards != slice(None, None, -1):
            raise TypeError("a range that ends at a size is read as a whole")
        last = self.start + (self.count - 1) * self.step
        return SizeRange(last, -self.step, self.count)

    def __iter__(self) -> Iterator[int]:
        """As Python has them, of the example's size."""
        first = int(self.start)
        return iter(range(first, first + int(self.count) * int(self.step), int(self.step)))

    def tensor(self, dtype: torch.dtype | None = None, device: Any = None) -> torch.Tensor:
        """[count], int64 by default, also where Python's list has no integers, and PyTorch makes
        a tensor of float32 of it."""
        found: torch.Tensor = torch.arange(self.count, device=device) * self.step + self.start
        return found if dtype is None else found.to(dtype)


@contextmanager
def ranges_of_sizes(model: torch.nn.Module) -> Iterator[None]:
    """Within it, tensors that the code of the model's modules makes of a `range` have as many
    numbers as its size says."""
    functions = [each for each in functions_of(model) if _makes_tensors(each)]
    if not functions:
        yield
        return
    others = {name: _copy_of(kind) for name, kind in _COPIES.items()} | {"range": size_range}
    makers = [Replacement(torch, name, _made_by(getattr(torch, name))) for name in _MAKERS]
    with calling_others(functions, others, _is_of_tensor), replaced(makers):
        yield


def _makes_tensors(function: types.FunctionType) -> bool:
    known = function.__globals__
    is_own = {"range", *_COPIES}.isdisjoint(known)  # and no function of the module's
    return is_own and known.get("torch") is torch and _has_names(function.__code__)


def _has_names(code: types.CodeType) -> bool:
    if "range" in code.co_names and not set(_MAKERS).isdisjoint(code.co_names):
        return True
    return any(_has_names(each) for each in code.co_consts if isinstance(each, types.CodeType))


def size_range(*args: Any) -> Any:
    """Python's `range`, but for sizes."""
    if not any(isinstance(each, torch.SymInt) for each in args):
        return range(*args)
    start, stop, step = (0, *args, 1)[:3] if len(args) == 1 else (*args, 1)[:3]
    if type(step) is not int or step == 0:
        return range(*args)
    rounding = step - 1 if step > 0 else step + 1
    return SizeRange(start, step, torch.sym_max((stop - start + rounding) // step, 0))


def _copy_of(kind: type) -> Callable[..., Any]:
    def copy(*args: Any) -> Any:
        return args[0] if args and isinstance(args[0], SizeRange) else kind(*args)

    return copy


def _made_by(maker: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(maker)
    def make(*args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], SizeRange):
            return maker(*args, **kwargs)
        if len(args) > 1 or not kwargs.keys() <= _ARGUMENTS:
            return maker(list(args[0]), *args[1:], **kwargs)
        return args[0].tensor(**kwargs)

    return make


def _is_of_tensor(code: types.CodeType, call: dis.Instruction) -> bool:
    """Whether the result of the function that the instruction loads goes into a tensor, and
    nowhere else."""
    if "torch" in (*code.co_varnames, *code.co_freevars, *code.co_cellvars):
        return False
    position = getattr(call, "positions", None)
    if position is None:
        return False
    return (position.lineno, position.col_offset) in _positions(code.co_filename)


@functools.lru_cache(maxsize=64)
def _positions(file: str) -> frozenset[_Position]:
    """Of the names `range`, `list` and `tuple` in such expressions of a file."""
    found: list[_Position] = []
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Call) and node.args and _is_maker(node.func):
            found += _of_integers(node.args[0]) or []
    return frozenset(found)


def _is_maker(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _MAKERS
        and isinstance(function.value, ast.Name)
        and function.value.id == "torch"
    )


def _of_integers(node: ast.expr) -> list[_Position] | None:
    """The names in an expression that is a range, a copy of one, or one backwards; None of any
    other."""
    if isinstance(node, ast.Subscript):
        return _of_integers(node.value) if ast.unparse(node.slice) == "::-1" else None
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Name):
        return None
    own = (node.func.lineno, node.func.col_offset)
    if any(isinstance(each, ast.Starred) for each in node.args):
        return None
    if node.func.id == "range":
        return [own]
    if node.func.id not in _COPIES or len(node.args) != 1:
        return None
    within = _of_integers(node.args[0])
    return None if within is None else [own, *within]

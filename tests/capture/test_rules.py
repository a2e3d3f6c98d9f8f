"""Fake-tensor tracing's rules give what PyTorch's meta functions give, at several sizes,
or decline; and nothing where PyTorch's kernels raise too."""

from __future__ import annotations

import logging
import os
import zlib
from typing import Any

import pytest
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.results import ResultFactory
from sardonyx._capture.meta_tracer.meta.rules import TABLE, WITHOUT_META_FUNCTION
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.sizes import plain

from .rows import ROWS
from .rows.said import S, T

# `make capture-sweep` takes all.
EVERY = int(os.environ.get("SARDONYX_RULE_ROWS_EVERY", "16"))
EXAMPLE = {"a": 4, "b": 5, "c": 6}
OTHERS = (EXAMPLE, {"a": 7, "b": 3, "c": 2}, {"a": 3, "b": 3, "c": 9})


class Open:
    """Sizes that letters stand for, of an environment of their own."""

    def __init__(self) -> None:
        self.env = ShapeEnv(duck_shape=False)
        self.values: dict[str, Any] = {}
        self._symbols: dict[str, Any] = {}
        for letter, value in EXAMPLE.items():
            source = ConstantSource(letter)
            symbol = self.env.create_symbol(value, source, dynamic_dim=DimDynamic.DYNAMIC)
            self._symbols[letter] = symbol
            self.values[letter] = self.env.create_symintnode(symbol, hint=value, source=source)

    def at(self, size: Any, values: dict[str, int]) -> Any:
        """A size, or a relation of sizes, at those that letters stand for."""
        expression = size.node.expr if isinstance(size, torch.SymInt) else size
        if type(expression) is int:
            return expression
        return expression.xreplace({s: values[letter] for letter, s in self._symbols.items()})

    def admits(self, values: dict[str, int]) -> bool:
        """Whether what was asked of sizes is so of these."""
        return all(bool(self.at(guard.expr, values)) for guard in self.env.guards)


def filled_in(argument: Any, values: dict[str, Any], made: dict[int, Any], make: Any) -> Any:
    """An argument of a row with tensors and sizes in it."""
    if isinstance(argument, T):
        if id(argument) not in made:
            made[id(argument)] = make(*argument.layout(values), argument.dtype)
        return made[id(argument)]
    if isinstance(argument, S):
        return argument.value(values)
    if isinstance(argument, list):
        return [filled_in(each, values, made, make) for each in argument]
    return argument


FIXED = Open()

# What copies the example, and is a view where sizes happen to be equal, gives the same elements.
MAY_COPY = (torch.ops.aten.reshape.default, torch.ops.aten.flatten.using_ints)

KNOWN_BY_KERNELS = (torch.ops.aten.index.Tensor,)


def has_others(func: Any, sizes: Open) -> bool:
    return sizes is not FIXED and func not in MAY_COPY


def has_letters(argument: Any) -> bool:
    if isinstance(argument, (list, tuple)):
        return any(map(has_letters, argument))
    return isinstance(argument, S) or any(map(str.isalpha, getattr(argument, "sizes", "")))


def quick_tensor(sizes: Any, strides: Any, dtype: torch.dtype) -> QuickTensor:
    return QuickTensor.of(tuple(map(plain, sizes)), tuple(map(plain, strides)), dtype)


def arguments(row: Any, values: dict[str, Any], make: Any) -> tuple[list[Any], dict[str, Any]]:
    made: dict[int, Any] = {}
    args, kwargs = row
    return [filled_in(each, values, made, make) for each in args], {
        name: filled_in(each, values, made, make) for name, each in kwargs.items()
    }


def given_by_torch(func: Any, row: Any, values: dict[str, int], mode: Any) -> Any:
    """The tensors, or None where PyTorch raises; an input that is given back is its place."""

    def make(sizes: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(sizes, strides, dtype=dtype)

    with torch.no_grad(), mode, enable_python_dispatcher():
        args, kwargs = arguments(row, values, make)
        try:
            return given_back(func(*args, **kwargs), args)
        except Exception:
            return None


def computed(func: Any, row: Any, values: dict[str, int]) -> Any:
    """What kernels give, or None where they raise. They count where meta functions raise (some
    releases' split of nothing) or are wrong: those of index forget dims beside an index of one
    element."""

    def make(sizes: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(sizes, strides, dtype=dtype).zero_()

    args, kwargs = arguments(row, values, make)
    try:
        return given_back(func(*args, **kwargs), args)
    except Exception:
        return None


def given_back(given: Any, args: Any) -> Any:
    """Results in a list, and places of arguments for those."""
    places = {id(each): f"argument {i}" for i, each in enumerate(args)}
    several = given if isinstance(given, (list, tuple)) else [given]
    return [places.get(id(each), each) for each in several]


def difference(ours: Any, theirs: Any, sizes: Open, values: dict[str, int]) -> str:
    if theirs is None:
        return "PyTorch raises"
    if len(ours) != len(theirs):
        return f"{len(ours)} results for {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, str) or isinstance(other, str):
            if one is not other and one != other:
                return f"{said(one)} for {said(other)}"
            continue
        dims = [sizes.at(size, values) for size in one.dims]
        steps = [sizes.at(step, values) for step in one.steps]
        if one.dtype != other.dtype or dims != list(other.shape):
            return f"{one.dtype} {dims} for {other.dtype} {list(other.shape)}"
        wanted = other.stride()
        if 0 not in dims and any(
            a != b for n, a, b in zip(dims, steps, wanted, strict=True) if n != 1
        ):
            return f"{dims} by {steps} for {wanted}"
    return ""


def said(result: Any) -> str:
    return result if isinstance(result, str) else "a new tensor"


def test_every_rule_has_a_row():
    assert set(TABLE) == set(ROWS)


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (4,), (), (0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32], ids=str)
@pytest.mark.parametrize("func", WITHOUT_META_FUNCTION, ids=str)
def test_rule_without_meta_function_gives_what_the_kernel_gives(func, dtype, shape):
    tensor = torch.ones(shape, dtype=dtype)
    made = WITHOUT_META_FUNCTION[func](ResultFactory(), tensor)
    wanted = func(tensor)
    assert (made.dtype, tuple(made.dims)) == (wanted.dtype, tuple(wanted.shape))


def test_weights_decide_the_dtype_of_a_covariance():
    cov = torch.ops.aten.cov.default
    for dtype in (torch.float32, torch.float64):
        x, weights = torch.ones(3, 4), torch.ones(4, dtype=dtype)
        made = WITHOUT_META_FUNCTION[cov](ResultFactory(), x, aweights=weights)
        assert made.dtype is cov(x, aweights=weights).dtype


@pytest.mark.parametrize("func", TABLE, ids=str)
def test_rule_gives_what_pytorch_gives(func):
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    mode, different, answered = FakeTensorMode(), [], 0
    rows = list(ROWS[func]())[zlib.crc32(str(func).encode()) % EVERY :: EVERY]
    for row in rows:
        sizes = Open() if has_letters(row) else FIXED
        args, kwargs = arguments(row, sizes.values, quick_tensor)
        try:
            ours = given_back(TABLE[func](ResultFactory(), *args, **kwargs), args)
        except DeclinedError:
            continue
        answered += 1
        for values in OTHERS if has_others(func, sizes) else (EXAMPLE,):
            if sizes.admits(values):
                theirs = given_by_torch(func, row, values, mode)
                told = difference(ours, theirs, sizes, values)
                if told and (theirs is None or func in KNOWN_BY_KERNELS):
                    told = difference(ours, computed(func, row, values), sizes, values)
                if told:
                    different.append(f"{row} at {values}: {told}")
                    break
    assert answered or EVERY > 1
    if different:
        pytest.fail("\n".join([f"{len(different)} of {len(rows)}", *different[:12]]), pytrace=False)

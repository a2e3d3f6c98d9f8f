"""PyTorch's primitives, which its references and decompositions are written in."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import importlib

import pytest
import torch

from tests.operators.check import Case, check, check_together, table
from tests.operators.inputs import (
    NAN,
    bools,
    complexes,
    floats,
    ints,
    of,
    positive,
    scalar,
    specials,
)

prims = torch.ops.prims
CPU = torch.device("cpu")
X = floats(2, 3, 4)

_UNARY = [
    "abs", "asinh", "atan", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0",
    "bessel_j1", "ceil", "clone", "cos", "cosh", "digamma", "erf", "erfc", "erfcx", "exp", "exp2",
    "expm1", "floor", "isfinite", "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal",
    "round", "rsqrt", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip
_UNARY_OF_PROPER_FRACTIONS = ["acos", "asin", "atanh", "erf_inv", "ndtri"]
_BINARY = [
    "add", "atan2", "div", "eq", "fmax", "fmin", "fmod", "ge", "gt", "hypot", "igamma", "igammac",
    "le", "lt", "maximum", "minimum", "mul", "ne", "nextafter", "pow", "remainder",
    "sub",
]  # fmt: skip
_BINARY_OF_INTEGERS = [
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "div", "eq", "gcd", "maximum", "mul",
    "remainder", "shift_left", "shift_right_arithmetic", "sub",
]  # fmt: skip


def _each(names: list[str], *inputs: torch.Tensor) -> list[Case]:
    return [Case(getattr(prims, name), inputs, dynamic=False) for name in names]


def test_unary() -> None:
    check_together(_each(_UNARY, positive(5)))
    check_together(_each(_UNARY_OF_PROPER_FRACTIONS, of(0.1, 0.5, 0.9)))


def test_binary() -> None:
    check_together(_each(_BINARY, positive(5), positive(5, seed=9)))


def test_binary_of_integers() -> None:
    inputs = ints(6, low=-9, high=9), ints(6, low=1, high=5, seed=9)
    check_together(_each(_BINARY_OF_INTEGERS, *inputs))


# Static only: at other sizes its elements would share memory.
def test_copy_strided() -> None:
    check(Case(lambda x: prims.copy_strided(x, (1, 2)), (floats(2, 3),), dynamic=False))


@table(
    (lambda x: prims.acosh(x), positive(5) + 1),
    (lambda x: prims.bitwise_not(x), ints(4)),
    (lambda x, y: prims.add(x, y), bools(4), bools(4, seed=9)),
    (lambda x, y: prims.zeta(x, y), positive(5) + 1.5, positive(5)),
    (lambda x: prims.frexp(x), specials()),
    (lambda z: prims.prod(z, [0]), complexes(3, 2)),
    (lambda x: prims.broadcast_in_dim(x, [2, 3, 4], [1]), floats(3)),
    (lambda x: prims.broadcast_in_dim(x, [2, 3, 4], [0, 2]), floats(2, 1)),
    (lambda x: prims.broadcast_in_dim(x, [2, 3], []), scalar(2.5)),
    (lambda x, y: prims.cat([x, y], 1), X, floats(2, 1, 4)),
    (lambda x: prims.collapse(x, 1, 2), X),
    (lambda x: prims.collapse_view(x, 0, 1), X),
    (lambda x: prims.convert_element_type(x, torch.int64), X * 4),
    (lambda x: prims.convert_element_type(x, torch.bool), of(0.0, -0.0, 2.5)),
    (lambda x: prims.device_put(x, CPU), X),
    (lambda x: prims.fill(x, 3), X),
    (lambda x: prims.split_dim(x, 2, 2), X),
    (lambda x: prims.squeeze(x, [0, 2]), floats(1, 3, 1)),
    (lambda x: prims.squeeze(x, []), floats(1, 3, 1)),
    (lambda x: prims.transpose(x, [2, 0, 1]), X),
    (lambda x: prims.reshape(x, (4, 6)), X),
    (lambda x: prims.rev(x, [0, 2]), X),
    (lambda x: prims.sum(x, [0, 2]), X),
    (lambda x: prims.prod(x, [1]), X),
    (lambda x: (prims.amax(x, [1]), prims.amin(x, [0, 2])), X),
    (lambda x: prims.amax(x, [0]), of([1.0, NAN], [2.0, 0.0])),
    (lambda x: (prims.var(x, [0, 1], correction=1), prims.var(x, [1], correction=0)), X),
    (lambda x: prims.view_of(x), X),
    (lambda x: prims.view_of(x) + 1, scalar(1.5)),
    (lambda c, x, y: prims.where(c, x, y), bools(3), floats(3), floats(3, seed=9)),
    (lambda x: x + prims.scalar_tensor(2, dtype=torch.float32, device=CPU), X),
)
def test_prims(case: Case) -> None:
    check(case)


def _like(**options: object) -> dict[str, object]:
    return {"dtype": torch.float32, "device": CPU, "requires_grad": False, **options}


@table(
    (lambda x: x + prims.iota(3, start=0, step=1, **_like(dtype=torch.int64)), floats(3)),
    (lambda x: x + prims.iota(3, start=5, step=-2, **_like(dtype=torch.int32)), floats(3)),
    (lambda x: prims.iota(x.shape[0], start=-1, step=3, **_like(dtype=torch.int64)), floats(3)),
    (lambda x: x + prims.full((2, 3), 2.5, **_like()), floats(2, 3)),
    (lambda x: prims.full_like(x, 2, **_like(dtype=torch.int64)), floats(2, 3)),
    (lambda x: prims.empty((2, 3), **_like()).fill_(1) + x, floats(2, 3)),
    (lambda x: prims.empty_permuted((2, 3), (1, 0), **_like()).fill_(1) + x, floats(2, 3)),
    (lambda x: prims.empty_strided((2, 3), (3, 1), **_like()).fill_(1) + x, floats(2, 3)),
)
def test_creation(case: Case) -> None:
    check(case)


def _pooled_in_two_steps(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The places in the plane by way of those in the windows, as PyTorch's compiler takes it."""
    axes = x.dim() - 2
    window = [3, 2, 2][:axes], [2] * axes, [1] * axes, [1, 2, 1][:axes]
    values, offsets = prims._low_memory_max_pool_with_offsets(x, *window, False)
    sizes, (kernel, *rest) = list(x.shape[2:]), window
    return values, prims._low_memory_max_pool_offsets_to_indices(offsets, kernel, sizes, *rest)


@pytest.mark.parametrize("x", [floats(2, 3, 7, 8), floats(1, 2, 5, 6, 5)], ids=["2d", "3d"])
def test_pooling_by_offsets(x: torch.Tensor) -> None:
    importlib.import_module("torch._inductor.inductor_prims")  # registers the operators
    check(Case(_pooled_in_two_steps, (x,), dynamic=False))

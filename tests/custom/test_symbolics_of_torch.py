"""torch.onnx's own symbolic functions, called by those of users."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

import sardonyx
from tests.harness import difference

helper: Any = pytest.importorskip("torch.onnx.symbolic_helper")
opset9: Any = pytest.importorskip("torch.onnx.symbolic_opset9")


def constant(g, value):
    return g.op("Constant", value_t=torch.tensor(value))


def by_rank(g, x):
    return g.op("Add", x, constant(g, float(helper._get_tensor_rank(x))))


def by_size(g, x):
    return g.op("Add", x, constant(g, float(helper._get_tensor_dim_size(x, 1))))


def by_constant(g, x):
    assert helper._is_value(x)
    assert not helper._is_constant(x)
    assert not helper._is_none(x)
    number = constant(g, 3.0)
    assert helper._is_constant(number)
    return g.op("Mul", x, constant(g, helper._maybe_get_const(number, "f")))


# A symbolic function of x, and what it stands for.
FUNCTIONS = {
    "masked_fill": (
        lambda g, x: opset9.masked_fill(g, x, g.op("Greater", x, constant(g, 0)), constant(g, -5)),
        lambda x: x.masked_fill(x > 0, -5),
    ),
    "softmax": (lambda g, x: opset9.softmax(g, x, -1), lambda x: x.softmax(-1)),
    "softmax of a constant": (
        lambda g, x: opset9.softmax(g, x, constant(g, -1)),
        lambda x: x.softmax(-1),
    ),
    "add": (lambda g, x: opset9.add(g, x, x, constant(g, 2)), lambda x: x + x * 2),
    "relu": (opset9.relu, torch.relu),
    "transpose": (lambda g, x: opset9.transpose(g, x, 0, 1), lambda x: x.transpose(0, 1)),
    "gelu": (lambda g, x: opset9.gelu(g, x, "none"), functional.gelu),
    "layer_norm": (
        lambda g, x: opset9.layer_norm(g, x, [4], None, None, 1e-5, False),
        lambda x: functional.layer_norm(x, (4,)),
    ),
    "matmul": (lambda g, x: opset9.matmul(g, x, opset9.t(g, x)), lambda x: x @ x.t()),
    "pow": (lambda g, x: opset9.pow(g, x, constant(g, 2)), lambda x: x**2),
    "reshape": (lambda g, x: opset9.reshape(g, x, constant(g, [-1])), lambda x: x.reshape(-1)),
    "glu": (lambda g, x: opset9.glu(g, x, -1), lambda x: functional.glu(x, -1)),
    "type_as": (
        lambda g, x: opset9.type_as(g, constant(g, [1, 2]), x),
        lambda x: x.new_tensor([1, 2]),
    ),
    "rank": (by_rank, lambda x: x + 2),
    "size": (by_size, lambda x: x + 4),
    "constant": (by_constant, lambda x: x * 3),
}


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize(("symbolic_function", "function"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_they_take_our_values(symbolic_function, function, dynamo):
    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return function(x)

        @staticmethod
        def symbolic(g, x):
            return symbolic_function(g, x)

    class Model(torch.nn.Module):
        def forward(self, x):
            return Function.apply(x)

    x = torch.randn(3, 4)
    program = sardonyx.export(Model(), (x,), dynamo=dynamo)
    assert difference(program(x)[0], function(x)) is None


def test_a_value_is_still_one_of_ours():
    seen = []

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def symbolic(g, x):
            seen.append((isinstance(x, torch._C.Value), sardonyx.symbolic_helper._is_value(x)))
            return g.op("Add", x, x)

    class Model(torch.nn.Module):
        def forward(self, x):
            return Function.apply(x)

    sardonyx.export(Model(), (torch.randn(2),))
    assert seen == [(True, True)]

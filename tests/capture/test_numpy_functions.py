"""NumPy's functions of dynamic sizes give the model what they give of each size."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from numpy import sqrt
from torch.export import Dim

import sardonyx
from tests.harness import difference

FUNCTIONS = {
    "sqrt": lambda x: x / np.sqrt(x.shape[-1]),
    "sqrt of a quotient": lambda x: x * np.sqrt(x.shape[0] / x.shape[1]),
    "sqrt by its own name": lambda x: x * sqrt(x.shape[1]),
    "sqrt of a product": lambda x: x / np.sqrt(np.prod(x.shape[1:])),
    "a norm of EDM2": lambda x: (
        x
        / torch.add(
            1e-4,
            torch.linalg.vector_norm(x, dim=-1, keepdim=True),
            alpha=float(np.sqrt(x.shape[-1] / x.numel())),
        )
    ),
    "log2": lambda x: x * np.log2(x.shape[-1]),
    "exp": lambda x: x * np.exp(-x.shape[-1] / 10),
    "arctan": lambda x: x * np.arctan(x.shape[-1]),
    "ceil": lambda x: x * np.ceil(x.shape[-1] / 2),
    "ceil as a size": lambda x: torch.zeros(int(np.ceil(x.shape[-1] / 2))) + x.mean(),
    "floor": lambda x: x[..., : int(np.floor(x.shape[-1] / 2))],
    "rint": lambda x: x * np.rint(x.shape[-1] / 2),
    "round": lambda x: x * int(np.round(x.shape[-1] / 4)),
    "all elements": lambda x: x.reshape(int(np.prod(x.shape))),
    "all elements of a tuple": lambda x: x.reshape(int(math.prod(x.shape))),
    "number of elements": lambda x: x * int(x.shape[0] * x.shape[1] * x.shape[2]),
    "a scalar": lambda x: x * 2 if np.isscalar(x.shape[-1]) else x,
}


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def exported(function, example):
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        dims = {0: Dim("n"), 1: Dim("m"), 2: Dim("k")}
        return sardonyx.export(Calls(function), (example,), dynamic_shapes=(dims,))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_it_is_computed_of_each_size(function):
    program = exported(function, torch.randn(2, 5, 7))
    for shape in ((2, 5, 7), (3, 4, 6), (1, 1, 1), (2, 9, 16)):
        x = torch.randn(shape)
        assert difference(program(x)[0], function(x)) is None, shape


@pytest.mark.parametrize("name", ["ceil", "floor", "trunc", "rint"])
@pytest.mark.parametrize("is_whole", [False, True])
def test_integers_become_what_numpy_makes_of_them(name, is_whole):
    def scaled(x):
        size = x.shape[-1]
        return x * getattr(np, name)(size if is_whole else size / 2)

    program = exported(scaled, torch.arange(70).reshape(2, 5, 7))
    for shape in ((2, 5, 7), (3, 4, 6), (1, 1, 1)):
        x = torch.arange(math.prod(shape)).reshape(shape)
        assert difference(program(x)[0], scaled(x)) is None, shape


def test_numpy_is_as_it_was_afterwards():
    before = np.sqrt, np.ceil, np.isscalar, sqrt
    exported(FUNCTIONS["sqrt"], torch.randn(2, 5, 7))
    assert before == (np.sqrt, np.ceil, np.isscalar, sqrt)
    assert isinstance(np.sqrt, np.ufunc)

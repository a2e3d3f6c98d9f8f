"""Tensors that a model computes of constants alone, which Python and sizes depend on."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import difference

from .test_if_conversion import Calls


def number(x):
    ones = torch.ones(x.shape[1], 6)
    return x * int(ones.sum(dim=1)[0].long())


def branch(x):
    mask = torch.ones_like(x[0]) > 0
    return x + 1 if mask.all() else x[:, :1]


def places(x):
    mask = torch.tensor([[True, False, True], [True, True, True]])
    kept = mask.nonzero()
    none = (~mask).nonzero().shape[0]
    total = x.new_zeros(x.shape[0])
    for row in kept[:, 0].unique():
        columns = kept[kept[:, 0] == row][:, 1]
        total = total + x[:, columns].sum(dim=1) * len(columns)
    return total * none


def mask_of_rows(x):
    mask = torch.arange(x.shape[1]) % 2 == 0
    return x[:, mask] * torch.eye(int(mask.sum()))[0]


def size_of_an_image(x):
    mask = torch.ones(1, 1, 6, 8)
    heights, widths = mask[:, 0].sum(dim=1)[:, 0].long(), mask[:, 0].sum(dim=2)[:, 0].long()
    parts = [
        torch.nn.functional.interpolate(x[:, None, :, None], size=(height // 2, width // 2))
        for height, width in zip(heights, widths, strict=True)
    ]
    return torch.cat(parts, dim=1)


FUNCTIONS = (number, branch, places, mask_of_rows, size_of_an_image)


def exported(function, capture="quick"):
    dims = ({0: Dim.DYNAMIC},)
    return sardonyx.export(
        Calls(function), (torch.randn(2, 3),), dynamic_shapes=dims, capture=capture
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_they_are_known(function):
    program = exported(function)
    assert not program.notes
    assert not {"If", "Loop"} & {node.op_type for node in program.model_proto.graph.node}
    for rows in (1, 2, 5):
        x = torch.randn(rows, 3)
        assert difference(program(x)[0], function(x)) is None, rows


def written(x):
    ones = torch.ones(3)
    ones[0] = x[0, 0]
    return x + 1 if ones.sum() > 3 else x - 1


def random(x):
    return x + 1 if torch.rand(3).sum() > -1 else x - 1


def of_the_input(x):
    return x + 1 if (x * 0 + torch.ones(3)).sum() > 3 * x.shape[0] else x - 1


@pytest.mark.parametrize("function", [written, random, of_the_input])
def test_others_are_not(function):
    program = exported(function, capture="auto")
    assert "If" in {node.op_type for node in program.model_proto.graph.node}
    for value in (-2.0, 2.0, float("nan")):
        x = torch.full((2, 3), value)
        assert difference(program(x)[0], function(x)) is None, value

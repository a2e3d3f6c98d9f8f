"""A free size that squeeze may drop: kept, and told."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx


class Squeezed(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.squeeze(0), x.squeeze(-1), x.squeeze(), x.squeeze((0, 1))


def exported(dim: Any, **how: Any) -> sardonyx.ONNXProgram:
    return sardonyx.export(Squeezed(), (torch.rand(5, 3, 1),), dynamic_shapes=({0: dim},), **how)


@pytest.mark.parametrize("capture", ["torch", "quick", "trace"])
@pytest.mark.parametrize("dim", [Dim("batch"), Dim.DYNAMIC, Dim.AUTO, Dim("batch", min=1, max=9)])
def test_a_free_size_is_kept_and_told(capture: str, dim: Any) -> None:
    made = exported(dim, capture=capture)
    told = [note for note in made.notes if note.code == "SX1313"]
    if capture != "trace":  # which shows the line of the traced code
        assert {note.line for note in told} == {Squeezed.forward.__code__.co_firstlineno + 1}
    assert [note.op for note in told] == [
        "aten::squeeze.dim",
        "aten::squeeze",
        "aten::squeeze.dims",
    ]
    assert all("PyTorch would drop it" in note.message for note in told)
    x = torch.rand(4, 3, 1)
    for have, want in zip(made(x), Squeezed()(x), strict=True):
        torch.testing.assert_close(have, want)
    assert [tuple(y.shape) for y in made(torch.rand(1, 3, 1))] == [
        (1, 3, 1), (1, 3), (1, 3), (1, 3, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("capture", ["torch", "quick"])
def test_a_size_that_is_no_less_than_two_is_not_told(capture: str) -> None:
    made = exported(Dim("batch", min=2, max=9), capture=capture)
    assert "SX1313" not in {note.code for note in made.notes}

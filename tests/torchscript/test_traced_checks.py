"""Checks of a traced model: branches that do nothing but raise, and what recurrent layers check."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import sardonyx
from sardonyx.errors import SpecializationWarning

LENGTHS = {4: [4, 3, 2, 1], 1: [2], 2: [5, 1], 7: [5, 5, 4, 3, 3, 1, 1]}


class Packed(torch.nn.Module):
    def __init__(self, total_length: int | None) -> None:
        super().__init__()
        self.layer = torch.nn.GRU(4, 3, bidirectional=True, batch_first=True)
        self.total_length = total_length

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> Any:
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        results, _ = self.layer(packed)
        total = None if self.total_length is None else x.shape[1]
        return pad_packed_sequence(results, batch_first=True, total_length=total)


@pytest.mark.parametrize("total_length", [None, 5])
def test_packed_sequences_specialize_nothing(total_length: int | None) -> None:
    torch.manual_seed(0)
    model = Packed(total_length).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecializationWarning)
        program = sardonyx.export(
            model,
            (torch.randn(4, 5, 4), torch.tensor(LENGTHS[4])),
            dynamic_shapes=({0: "batch"}, {0: "batch"}),
        )
    for size, lengths in LENGTHS.items():
        given = (torch.randn(size, 5, 4), torch.tensor(lengths))
        torch.testing.assert_close(program(*given), model(*given), rtol=1e-4, atol=1e-5)


class Checked(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.min() < 0:
            raise ValueError(f"negative: {x.min()}")
        assert x.shape[0] < 100
        return x.sqrt()


def test_a_check_is_a_note() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecializationWarning)
        program = sardonyx.export(
            Checked(), (torch.rand(3),), dynamic_shapes=({0: "n"},), capture="trace"
        )
    assert {note.code for note in program.notes} == {"SX1017"}
    x = torch.rand(5)
    torch.testing.assert_close(program(x)[0], x.sqrt())


class Deciding(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            if x.min() < 0:
                raise ValueError
        except ValueError:
            return -x
        return x.sqrt()


def test_a_branch_that_is_caught_is_a_warning() -> None:
    with pytest.warns(SpecializationWarning):
        sardonyx.export(Deciding(), (torch.rand(3),), capture="trace")

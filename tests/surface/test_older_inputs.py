"""Inputs and modes that the older exporter (`dynamo=False`) takes."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import sardonyx

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class OfNumbers(nn.Module):
    def forward(self, x: Tensor, count: int, factor: float) -> tuple[Tensor, Tensor]:
        return x + count, x * factor


@pytest.mark.parametrize("scripted", [True, False])
def test_numbers_are_inputs_of_the_older_exporters_types(scripted: bool) -> None:
    module: Any = torch.jit.script(OfNumbers()) if scripted else OfNumbers()
    program = sardonyx.export(module, (torch.ones(2), 3, 2.5), dynamo=False, verify=True)
    types = [i.type.tensor_type.elem_type for i in program.model_proto.graph.input]
    assert types == [1, 7, 11]
    got = program(torch.ones(2), 5, 0.5)
    assert [each.tolist() for each in got] == [[6.0, 6.0], [0.5, 0.5]]


class OfDict(nn.Module):
    def forward(self, held: dict[str, Tensor], scale: float = 1.0) -> Tensor:
        return held["x"] * scale


def test_an_empty_dict_says_that_the_one_before_it_is_an_input() -> None:
    held = {"x": torch.ones(2)}
    program = sardonyx.export(OfDict(), (held, {}), dynamo=False)
    assert program(held)[0].tolist() == [1.0, 1.0]


class Pair(OrderedDict[str, Tensor]):
    def __init__(self, first: Tensor, second: Tensor) -> None:
        super().__init__()
        self["first"], self["second"] = first, second


class GivesPair(nn.Module):
    def forward(self, given: dict[str, Tensor]) -> Pair:
        return Pair(given["first"] + 1, given["second"] * 2)


@pytest.mark.parametrize("dynamo", [True, False])
def test_classes_derived_from_dictionaries(dynamo: bool) -> None:
    given = Pair(torch.ones(2), torch.ones(3))
    args = (given,) if dynamo else (given, {})
    program = sardonyx.export(GivesPair(), args, dynamo=dynamo)
    assert [each.tolist() for each in program(given)] == [[2.0, 2.0], [2.0, 2.0, 2.0]]


def test_a_dictionary_whose_key_is_a_tensor() -> None:
    class OfKey(nn.Module):
        def forward(self, given: dict[Tensor, Tensor]) -> Tensor:
            return next(given[key] + key for key in given)

    given = {torch.tensor(1.0): torch.randn(2, 3)}
    program = sardonyx.export(OfKey(), (given, {}), dynamo=False)
    torch.testing.assert_close(program(*given.values())[0], OfKey()(given))


def test_dynamic_axes_of_unknown_names_are_warned_of() -> None:
    axes = {"nothing": [0]}
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="'nothing'.*neither inputs"):
        sardonyx.export(nn.ReLU(), (torch.ones(2),), dynamo=False, dynamic_axes=axes)
    with pytest.raises(sardonyx.errors.OnnxExporterError, match="'nothing'"):
        sardonyx.export(nn.ReLU(), (torch.ones(2),), dynamic_axes=axes)


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(4, 3, bidirectional=True)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        packed, state = self.layer(pack_padded_sequence(x, lengths))
        return pad_packed_sequence(packed)[0], state


@pytest.mark.parametrize("dynamo", [True, False])
def test_packed_sequences_are_traced(dynamo: bool) -> None:
    module = Packed().eval()
    lengths = torch.tensor([5, 3, 2])
    program = sardonyx.export(module, (torch.randn(5, 3, 4), lengths), dynamo=dynamo)
    for others in (lengths, torch.tensor([5, 5, 1])):
        x = torch.randn(5, 3, 4)
        for ours, theirs in zip(program(x, others), module(x, others), strict=True):
            torch.testing.assert_close(ours, theirs)


def trained() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)).train()


def test_without_dynamo_inference_is_exported() -> None:
    module = trained()
    program = sardonyx.export(module, (torch.randn(3, 4),), dynamo=False)
    assert len(program.output_names) == 1
    assert module.training
    assert module[1].training  # type: ignore[index]
    torch.testing.assert_close(program(torch.ones(3, 4))[0], module.eval()(torch.ones(3, 4)))


@pytest.mark.parametrize("scripted", [True, False])
def test_training_mode_is_warned_of(scripted: bool) -> None:
    module: Any = torch.jit.script(trained()) if scripted else trained()
    with pytest.warns(UserWarning, match="in training mode"):
        program = sardonyx.export(module, (torch.randn(3, 4),))
    assert "SX1025" in [note.code for note in program.notes]


@pytest.mark.parametrize(
    ("module", "mode"),
    [
        (nn.Linear(4, 4), None),
        (nn.Dropout(0.0), None),
        (trained().eval(), None),
        (trained(), sardonyx.TrainingMode.PRESERVE),
    ],
)
def test_what_asks_for_no_mode_is_not_warned_of(module: nn.Module, mode: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        sardonyx.export(module, (torch.randn(3, 4),), training=mode)


@torch.jit.script
def by_emptiness(x: Tensor, before: Tensor) -> Tensor:
    if before.size(0) == 0:
        return x + 3
    return x + 2


class AsksForEmptiness(nn.Module):
    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        return by_emptiness(x, before)


@pytest.mark.parametrize("dynamo", [True, False])
def test_a_scripted_branch_on_a_size_stays_one(dynamo: bool) -> None:
    x = torch.ones(2)
    how: dict[str, Any] = {"dynamic_shapes": {"x": {0: "n"}, "before": {0: "m"}}}
    program = sardonyx.export(AsksForEmptiness(), (x, torch.empty(0, 4)), dynamo=dynamo, **how)
    assert program(x, torch.empty(0, 4))[0].tolist() == [4.0, 4.0]
    assert program(x, torch.empty(2, 4))[0].tolist() == [3.0, 3.0]


@pytest.mark.parametrize("end", [8.5, 3.0, 0.2])
def test_arange_to_integers_cuts_its_numbers(end: float) -> None:
    def counts(last: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return (
            torch.arange(float(last), dtype=torch.int64),
            torch.arange(x.size(0), 8.5, 1.5, dtype=torch.int64),
        )

    program = sardonyx.export(torch.jit.script(counts), (torch.tensor(6.5), torch.ones(2)))
    expected = counts(torch.tensor(end), torch.ones(2))
    for ours, theirs in zip(program(torch.tensor(end), torch.ones(2)), expected, strict=True):
        assert ours.tolist() == theirs.tolist()


class Masked(nn.Module):
    def forward(self, x: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        written = x.clone()
        written[rows, columns] = 0.0
        return x[rows, columns], written


@pytest.mark.parametrize("dynamo", [True, False])
def test_masks_that_index_together_broadcast(dynamo: bool) -> None:
    one, three = torch.tensor([True, False, False, False]), torch.tensor([True, False, True, True])
    x = torch.rand(4, 4)
    program = sardonyx.export(Masked(), (x, one, three), dynamo=dynamo)
    for rows, columns in ((one, three), (three, one), (three, three), (one, one)):
        for ours, theirs in zip(program(x, rows, columns), Masked()(x, rows, columns), strict=True):
            torch.testing.assert_close(ours, theirs)

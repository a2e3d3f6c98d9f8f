"""Runs without data leave nothing behind in the model."""

from __future__ import annotations

import functools
import logging
import logging.handlers

import pytest
import torch
from transformers.pytorch_utils import compile_compatible_method_lru_cache

from sardonyx.hf.inputs.meta_execution import counted_calls, probe


class Keeping(torch.nn.Module):
    @compile_compatible_method_lru_cache(maxsize=4)
    def anchors(self, count: int) -> torch.Tensor:
        return torch.arange(count).float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for row in range(x.shape[0]):
            x = x + row * self.anchors(x.shape[-1])
        return x


def test_what_a_method_keeps_has_data() -> None:
    model, x = Keeping(), torch.ones(2, 3)
    assert probe(model, model, x=x).shape == (2, 3)
    torch.testing.assert_close(model(x), torch.tensor([[1.0, 2.0, 3.0]]).expand(2, 3))


def test_a_loop_over_rows_is_seen_in_the_calls() -> None:
    calls = []
    for rows in (2, 3):
        with counted_calls() as counted:
            probe(model := Keeping(), model, x=torch.ones(rows, 3))
        calls.append(counted.without_data)
    assert 0 < calls[0] < calls[1]


def test_what_an_example_does_not_fit_is_not_logged() -> None:
    """PyTorch logs each such failure with all calls that led to it."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    handler = logging.handlers.BufferingHandler(10)
    logger.addHandler(handler)
    try:
        with pytest.raises(RuntimeError):
            probe(torch.nn.Identity(), lambda x: x + torch.ones(7), x=torch.ones(2, 3))
        assert not handler.buffer
        assert not logger.disabled
    finally:
        logger.removeHandler(handler)


class Caching(torch.nn.Module):
    """Keeps what it computes of a weight, as LeViT does with its biases."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.kept: dict[str, torch.Tensor] = {}
        self.longest = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.longest = max(self.longest, x.shape[-1])
        if "cpu" not in self.kept:
            self.kept["cpu"] = self.weight * 2
        return x + self.kept["cpu"]


def test_a_model_is_as_it_was() -> None:
    model, x = Caching(), torch.zeros(2, 3)
    probe(model, model, x=x)
    assert not model.kept
    assert model.longest == 0
    torch.testing.assert_close(model(x), torch.full((2, 3), 2.0))


def test_parameters_are_as_they_were() -> None:
    model = torch.nn.Linear(3, 3)
    model.also = model.weight
    kept = dict(model.named_parameters(remove_duplicate=False))
    with counted_calls() as counted:
        assert probe(model, model, input=torch.ones(2, 3)).shape == (2, 3)
    assert counted.on_meta
    now = dict(model.named_parameters(remove_duplicate=False))
    assert [id(each) for each in now.values()] == [id(each) for each in kept.values()]


def test_a_tensor_with_data_beside_meta_tensors_runs_on_fake_ones() -> None:
    class Mixed(torch.nn.Module):
        table = torch.arange(6.0).reshape(2, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, self.table])

    with counted_calls() as counted:
        assert probe(model := Mixed(), model, x=torch.ones(2, 3)).shape == (4, 3)
    assert counted.without_data > 0
    assert not counted.on_meta


class _Words:
    @functools.cached_property
    def places(self) -> torch.Tensor:
        return torch.arange(3.0)


class _Reading(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = _Words()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.words.places


def test_what_an_object_of_the_model_keeps_has_data() -> None:
    model, x = _Reading(), torch.ones(2, 3)
    assert probe(model, model, x=x).shape == (2, 3)
    torch.testing.assert_close(model(x), torch.tensor([[1.0, 2.0, 3.0]]).expand(2, 3))


class _Speaking(torch.nn.Module):
    """As long as what its weights make of the input, which must be numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(3, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        lengths = (x @ (self.weight / self.weight.norm())).exp().sum().long()
        if bool(lengths < 0):
            raise ValueError("lengths are numbers")
        return x.new_zeros(int(lengths))


def test_weights_that_have_no_values_yet_are_stood_in_for() -> None:
    model, x = _Speaking(), torch.ones(2, 3)
    with pytest.raises(ValueError, match="numbers"):
        model(x)
    before = model.weight.data_ptr()
    assert probe(model, model, x=x).numel() > 0
    assert model.weight.data_ptr() == before
    assert not model.weight.any()


def test_what_does_not_fit_is_tried_with_no_other_weights() -> None:
    model = _Speaking()
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        probe(model, model, x=torch.ones(2, 4))

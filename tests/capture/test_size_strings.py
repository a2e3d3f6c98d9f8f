"""Strings of dynamic sizes: no model has another string for each size."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx.errors import SpecializationWarning


class Counts(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * len(str(x.shape[0]))


class Chooses(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        key = f"{x.shape[0]}"
        return x * {"5": 2.0}.get(key, 1.0)


class Shows(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logging.getLogger("model").debug(f"{x.shape}")
        if x.dim() != 2:
            raise ValueError(f"a tensor of {x.shape[0]} rows")
        torch._assert(x.shape[1] == 3, f"{x.shape[0]} rows of {x.shape[1]}")
        return x + 1


def exported(model: torch.nn.Module, dim: Any) -> Any:
    return sardonyx.export(model, (torch.ones(5, 3),), dynamic_shapes=({0: dim},))


def test_a_number_of_a_string_is_refused_with_its_line() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match=r"makes a string .*len\(str") as error:
        exported(Counts(), Dim("n", max=200))
    assert error.value.diagnostics[0].line > 0
    with pytest.warns(SpecializationWarning, match="makes a string"):
        exported(Counts(), Dim.AUTO)


def test_what_a_string_may_decide_is_warned_of() -> None:
    with pytest.warns(SpecializationWarning, match=r"makes a string .*in forward: key = f"):
        exported(Chooses(), Dim("n", max=200))


def test_messages_are_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecializationWarning)
        exported(Shows(), Dim("n", max=200))

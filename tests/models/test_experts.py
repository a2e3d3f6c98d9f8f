"""Mixtures of experts convert, at every batch and length, with experts that get no token."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers.integrations.moe  # noqa: F401  (registers its operators)
from torch.export import Dim

from tests.harness import assert_exports, capture

from .experts import FAMILIES, GroupedExperts, LoopOverExperts, mixture


@pytest.mark.parametrize("family", FAMILIES)
def test_mixture_of_experts(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    example = mixture(family)
    captured = capture(example.model, (), example.inputs.kwargs, example.dynamic_shapes)
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", refused)
    assert_exports(
        captured, (), example.inputs.kwargs, other_inputs=example.others, reference=example.model
    )


def refused(*_: Any, **__: Any) -> None:
    raise AssertionError("the program was traced again")


@pytest.mark.parametrize("opset", [16, 18, 24])  # 16 is the first that adds while it scatters
@pytest.mark.parametrize("form", [LoopOverExperts, GroupedExperts])
def test_forms_of_experts(form: type[torch.nn.Module], opset: int) -> None:
    torch.manual_seed(0)
    model = form(5, 8, 12, 2).eval()
    with torch.no_grad():
        model.router.weight[3] = -100.0  # the fourth gets nothing that is positive
    exported = assert_exports(
        model,
        (torch.rand(6, 8),),
        dynamic_shapes=({0: Dim("tokens", min=1, max=512)},),
        other_inputs=[(torch.rand(1, 8),), (torch.rand(40, 8),)],
        opset_version=opset,
    )
    assert exported.model.ir_version > 0


class GivenExperts(torch.nn.Module):
    """Weights that are computed, and rows that belong to no group."""

    def forward(self, x: torch.Tensor, w: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        return torch.ops.transformers.grouped_mm_fallback(x, w * 2, ends)


def test_experts_whose_weights_are_inputs() -> None:
    x, w = torch.randn(9, 4), torch.randn(3, 4, 5)
    ends = [torch.tensor(each, dtype=torch.int32) for each in ([2, 2, 9], [0, 4, 6], [0, 0, 0])]
    assert_exports(GivenExperts(), (x, w, ends[0]), other_inputs=[(x, w, each) for each in ends])


class FixedExperts(torch.nn.Module):
    def __init__(self, experts: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(experts, 5, 4))

    def forward(self, x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        return torch.ops.transformers.grouped_mm_fallback(x, self.weight.transpose(1, 2), ends)


@pytest.mark.parametrize("experts", [1, 3, 130])
def test_rows_that_belong_to_no_expert(experts: int) -> None:
    full = torch.full((experts,), 6, dtype=torch.int32)
    others = [(torch.randn(9, 4), full), (torch.randn(9, 4), full * 0)]
    assert_exports(FixedExperts(experts), (torch.randn(9, 4), full + 3), other_inputs=others)

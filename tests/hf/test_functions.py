"""autograd.Functions in models of checkpoints."""

from __future__ import annotations

from typing import Any

import torch

from sardonyx.hf.base.parts import Part
from sardonyx.hf.conversion.graphs import ExportTarget, captured


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def symbolic(g: Any, x: Any) -> Any:
        raise AttributeError("what only PyTorch's own exporter has")


class _Model(torch.nn.Module):
    def forward(self, inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        return (_Doubled.apply(inputs["x"]),)


def test_what_forward_computes_is_exported_and_not_what_another_exporter_is_told() -> None:
    x = torch.randn(2, 3)
    part = Part("model", _Model(), {"x": x}, {"x": {0: "batch_size"}}, ("y",))

    _, program, _ = captured(part, ExportTarget())

    (got,) = program(x[:1])
    assert torch.equal(torch.as_tensor(got), x[:1] * 2)

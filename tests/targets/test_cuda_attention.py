"""Attention for ONNX Runtime's CUDA provider, whose kernel checks shapes by the CPU provider's
code."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._runtime.session import open_session, run


class Attention(torch.nn.Module):
    def __init__(self, cut: bool) -> None:
        super().__init__()
        self.cut = cut

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        heads = x.unflatten(-1, (4, 8)).transpose(1, 2)
        rows = mask[:, None, None, :]
        if self.cut:  # a row that a batch without tokens does not have
            rows = rows & torch.ones(1, 1, 1, 1, dtype=torch.bool)[:, :, : x.shape[1]]
        found = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads, rows)
        return found.transpose(1, 2).flatten(2)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("runtime", ["onnxruntime-cuda", "onnxruntime-cpu"])
def test_attention_mask_of_one_row(runtime: Any, cut: bool) -> None:
    model = Attention(cut)

    def inputs(rows: int, length: int) -> dict[str, torch.Tensor]:
        mask = torch.ones(rows, length, dtype=torch.bool)
        mask[0, 1:] = False
        return {"x": torch.randn(rows, length, 32), "mask": mask}

    sizes = {0: Dim("rows"), 1: Dim("length")}
    program = sardonyx.export(
        model,
        (),
        kwargs=inputs(2, 5),
        target_runtime=runtime,
        dynamic_shapes={"x": sizes, "mask": sizes},
    )
    made = program.model_proto
    session = open_session(made.SerializeToString())
    for rows, length in ((2, 5), (1, 1), (3, 9)):
        fed = inputs(rows, length)
        (found,) = run(session, fed, [made.graph.output[0].name])
        torch.testing.assert_close(found, model(**fed))

"""Regions without gradients, which torch.export inlines into the graph around them."""

from __future__ import annotations

import pytest
import torch

import sardonyx

REGIONS = 12


class Regions(torch.nn.Module):
    """Layers that each have a region without gradients, and one of disabled autocast."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(REGIONS):
            with torch.no_grad(), torch.autocast("cpu", enabled=False):
                scale = x.mean(-1, keepdim=True).sigmoid()
            x = x * scale + 1
        return x


def test_a_graph_is_not_compiled_for_each_region(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[int] = []
    compile_ = torch.fx.GraphModule.recompile

    def recompile(module: torch.fx.GraphModule) -> object:
        compiled.append(len(module.graph.nodes))
        return compile_(module)

    monkeypatch.setattr(torch.fx.GraphModule, "recompile", recompile)
    dims = ({0: torch.export.Dim("rows")},)
    program = sardonyx.export(Regions(), (torch.rand(3, 4),), dynamic_shapes=dims, capture="torch")
    whole = max(compiled)
    assert sum(nodes > whole / 2 for nodes in compiled) < REGIONS
    for rows in (1, 2, 7):
        x = torch.rand(rows, 4)
        torch.testing.assert_close(program(x)[0], Regions()(x))

"""torch.export's program of a model that was captured quickly, where something asks for it."""

from __future__ import annotations

import torch
from torch.export import Dim

import sardonyx
from sardonyx._capture.capture import FakeTracing, capture
from sardonyx._capture.shapes.dynamic_shapes import prepare

from .test_quick import MODELS, Rotary, Transformed


class Branches(torch.nn.Module):
    """Its own code asks of a size, and what either side gives is of another rank."""

    def forward(self, x):
        return x * 2 if x.shape[0] % 2 == 0 else x[0]


def captured(model, shapes):
    args = (torch.randn(2, 3, 8, 10),)
    dynamic = prepare(model, args, {}, {"x": shapes})
    return capture(model, args, {}, dynamic, report=lambda _: None, quick=FakeTracing.ALONE)


def test_torch_export_keeps_the_sizes_of_a_grid():
    """Its linspace() takes numbers, and gets arithmetic in its place."""
    found = captured(Transformed(), {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO})
    assert not found.notes
    program = found.program.exported()
    assert not found.program.told_by_torch
    sizes = [each for node in program.graph.nodes if node.op == "placeholder"
             for each in node.meta["val"].shape]  # fmt: skip
    assert sum(isinstance(each, torch.SymInt) for each in sizes) == 3
    assert found.program.exported() is program


def test_what_both_tell_is_told_once():
    found = captured(Branches(), {0: Dim.AUTO})
    assert [note.code for note in found.notes] == ["SX1015"]
    found.program.exported()
    assert not found.program.told_by_torch


def test_exported_program_is_made_on_demand():
    made = sardonyx.export(Rotary(), (torch.randn(2, 3, 4, 8),), capture="quick", verify=True)
    assert isinstance(made.exported_program, torch.export.ExportedProgram)


def test_exported_program_has_the_names_that_nodes_came_from():
    model, args, _, shapes = MODELS["heads"]
    made = sardonyx.export(model, args, dynamic_shapes=shapes, capture="quick")
    computed = {node.name: node for node in made.exported_program.graph.nodes}
    told = list(made.captured_nodes.values())
    assert told
    assert all(hasattr(computed[name].target, "_schema") for name in told if name in computed)
    made.exported_program.module()(*args)
    assert [str(computed[n.name].target) for n in made._captured.graph.nodes if n.name in computed]

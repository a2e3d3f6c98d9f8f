"""Programs that write in place give the answers of eager PyTorch, at every size, and what they
leave in their inputs and buffers are outputs.

SARDONYX_EXHAUSTIVE=1 runs every write through every view.
"""

from __future__ import annotations

import copy
import os
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

import sardonyx
from tests.harness import assert_exports, capture
from tests.harness.exporting import Exported
from tests.harness.interface import model_inputs

from .idioms import IDIOMS
from .programs import Program, product

# The whole product takes minutes; a spread of it runs with the rest of the tests.
PRODUCT = product()[:: 1 if os.environ.get("SARDONYX_EXHAUSTIVE") else 7]


@pytest.mark.parametrize("program", IDIOMS, ids=lambda program: program.name)
def test_idiom(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", PRODUCT, ids=lambda program: program.name)
def test_write_through_view(program: Program) -> None:
    check(program)


def check(program: Program) -> None:
    module = program.module()
    exported = assert_exports(
        module,
        program.example,
        dynamic_shapes=program.dynamic,
        other_inputs=program.others,
    )
    for inputs in (program.example, *program.others):
        assert_inputs_left_alike(exported, module, inputs)


def assert_inputs_left_alike(exported: Exported, module: torch.nn.Module, inputs: Any) -> None:
    """Every input that eager PyTorch leaves changed, and does not return, is an output with its new
    elements."""
    left = copy.deepcopy(inputs)
    with torch.no_grad():
        returned = pytree.tree_leaves(module(*left))
    session = exported.session
    fed = model_inputs(exported.exported_program, inputs, {})
    results = dict(zip(session.outputs, session.run(fed), strict=True))
    for name, before, after in zip("xyz", inputs, left, strict=False):
        if torch.equal(before, after) or any(each is after for each in returned):
            continue
        assert f"{name}_updated" in results, f"{name} changes, outputs are {session.outputs}"
        torch.testing.assert_close(results[f"{name}_updated"], after)


class Cache(torch.nn.Module):
    """Writes to a cache that it returns."""

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> dict[str, torch.Tensor]:
        cache[:, 1:] = x
        return {"sum": cache.sum(0), "present": cache}


@pytest.mark.parametrize("capture", ["quick", "torch"])
def test_a_changed_input_that_is_returned_comes_out_once(capture: str) -> None:
    x, cache = torch.randn(3, 4), torch.zeros(3, 5)
    program = sardonyx.export(Cache(), (x, cache.clone()), capture=capture)
    assert program.output_names == ["sum", "present"]
    wanted = Cache()(x, cache.clone())
    for got, name in zip(program(x, cache), ("sum", "present"), strict=True):
        torch.testing.assert_close(got, wanted[name])


class Counter(torch.nn.Module):
    """Buffers that count calls and keep the last rows."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.tensor(0))
        self.register_buffer("rows", torch.zeros(4, 6))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.calls += 1
        self.rows[:-1] = self.rows[1:].clone()
        self.rows[-1] = x
        return self.rows * self.calls, self.rows[0]


def test_mutated_buffers_are_outputs() -> None:
    module, x = Counter(), torch.arange(6.0)
    exported = assert_exports(module, (x,))
    named = dict(zip(exported.session.outputs, exported.session.run([x]), strict=True))
    module(x)
    torch.testing.assert_close(named["calls_updated"], module.calls)
    torch.testing.assert_close(named["rows_updated"], module.rows)


def test_statistics_of_training_are_outputs() -> None:
    module, x = torch.nn.BatchNorm2d(3, momentum=0.3).train(), torch.randn(2, 3, 4, 5)
    exported = assert_exports(module, (x,))
    named = dict(zip(exported.session.outputs, exported.session.run([x]), strict=True))
    module(x)
    torch.testing.assert_close(named["running_mean_updated"], module.running_mean)
    torch.testing.assert_close(named["running_var_updated"], module.running_var)


def test_no_retrace(monkeypatch: pytest.MonkeyPatch) -> None:
    def decompose(*_: Any, **__: Any) -> None:
        raise AssertionError("the program was traced again")

    program = next(each for each in IDIOMS if each.name == "assigns_a_column")
    captured = capture(program.module(), program.example)
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", decompose)
    assert_exports(captured, program.example)

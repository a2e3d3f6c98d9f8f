"""Branches, loops and regions: each program gives the answers of eager PyTorch on inputs that take
every way through it, at several sizes, from the live program and from the saved one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch._export.serde.serialize import SerializeError

from tests.harness import Exported, Inputs, Session, assert_wellformed, capture, difference
from tests.harness.exporting import assert_same_answers
from tests.harness.interface import model_inputs, model_outputs
from tests.mutation.test_programs import assert_inputs_left_alike

from .branches import BRANCHES
from .loops import LOOPS
from .operators import WAYS
from .programs import Program
from .sequences import SEQUENCES
from .wrappers import WRAPPERS

PROGRAMS = [*BRANCHES, *LOOPS, *SEQUENCES, *WRAPPERS]
# A loop that always runs is right, too.
ONE_WAY = {
    "carries_integers_that_depend_on_each_other",
    "reads_the_row_it_counts",
    "decodes_greedily",
    "grows_a_table_in_place",
    "keeps_symbolic_sizes",
    "loops_in_a_branch",
}


@pytest.fixture(autouse=True)
def no_retrace(monkeypatch: pytest.MonkeyPatch) -> None:
    def decompose(*_: object, **__: object) -> None:
        raise AssertionError("the program was traced again")

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", decompose)


def saved_model(captured: torch.export.ExportedProgram, path: Path) -> Session | None:
    """Of the program saved and read again; None where PyTorch has no saved form of it."""
    import sardonyx

    try:
        torch.export.save(captured, path)
    except (AssertionError, SerializeError):
        return None
    return Session(sardonyx.convert(path).model_proto.SerializeToString())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program, tmp_path: Path) -> None:
    import sardonyx

    module = program.module()
    captured = capture(module, program.example, dynamic_shapes=program.dynamic)
    live = sardonyx.export(captured)
    assert_wellformed(live.model_proto)
    WAYS.clear()
    exported = Exported(
        live, captured, live.model_proto, Session(live.model_proto.SerializeToString())
    )
    saved = saved_model(captured, tmp_path / "program.pt2")
    for inputs in (program.example, *program.others):
        assert_same_answers(exported, module, Inputs(inputs))
        assert_inputs_left_alike(exported, module, inputs)
        fed = model_inputs(captured, inputs, {})
        answers = saved.run(fed) if saved else exported.session.run(fed)
        for got, want in zip(answers, exported.session.run(fed), strict=True):
            assert difference(got, want) is None, "the saved program's answer"
        # What stands in for PyTorch's loops in eager runs is what PyTorch runs.
        again = model_outputs(captured, captured.module()(*Inputs(inputs).copied().args))
        eager = model_outputs(captured, module(*Inputs(inputs).copied().args))
        for got, want in zip(again, eager, strict=True):
            assert difference(got, want) is None
    if program.name not in ONE_WAY:
        untaken = {line: ways for line, ways in WAYS.items() if len(ways) < 2}
        assert not untaken, f"lines that went one way only: {untaken}"

"""Bodies have the operators of the target opset, from the oldest to the newest."""

from __future__ import annotations

import pytest

from tests.harness import Exported, Inputs, Session, assert_wellformed, capture, export
from tests.harness.exporting import assert_same_answers

from .test_control_flow import PROGRAMS

# One of each construct, with operators in their bodies that changed between opsets.
NAMES = (
    "pads_by_symbolic_sizes",
    "nests",
    "writes_in_one_branch_only",
    "counts_in_a_tensor",
    "writes_to_what_it_captures",
    "sums_up",
    "carries_a_tuple",
    "maps_to_other_shapes",
    "recurs_in_one_call",
    "vectorizes_a_function",
    "branches_in_a_scan",
)
CHOSEN = {program.name: program for program in PROGRAMS if program.name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_opset(name: str) -> None:
    program = CHOSEN[name]
    module = program.module()
    captured = capture(module, program.example, dynamic_shapes=program.dynamic)
    for opset in range(13, 27):
        made = export(captured, opset_version=opset)
        assert_wellformed(made.model_proto)
        session = Session(made.model_proto.SerializeToString())
        exported = Exported(made, captured, made.model_proto, session)
        for inputs in (program.example, *program.others):
            assert_same_answers(exported, module, Inputs(inputs))

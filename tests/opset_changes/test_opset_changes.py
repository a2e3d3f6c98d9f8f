"""Each change between the versions of ONNX's operators keeps the answer of models, or rejects them.

tools/list_opset_changes.py makes the table of changes from the installed `onnx` package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import onnx
import pytest

import sardonyx
from tests.node_models.cases import Case, load_cases
from tests.node_models.outcomes import Outcome, judged
from tests.opset_changes.element_types import element_type, in_type, runs, single_nodes
from tests.opset_changes.newer_models import newer_models
from tests.opset_changes.older_models import Older, older_models

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from list_opset_changes import Change, changes, default

OLDEST, NEWEST = 13, onnx.defs.onnx_opset_version()
RUNTIMES = ["onnxruntime", "standard"]
GAINS = re.compile(r"input (\S+) gains (\S+)")
# What is an older opset's alone to have, into which nothing is converted, or to leave out.
NO_MATTER = {
    **{
        f"Constant 12: attribute value_{kind} added": "nothing is converted to opset 11"
        for kind in ("float", "floats", "int", "ints", "string", "strings")
    },
    "Constant 11: attribute sparse_value added": "nothing is converted to opset 10",
    "Constant 11: attribute value optional": "nothing is converted to opset 10",
    "Upsample 7: attribute height_scale removed": "what opset 6 has is refused",
    "Upsample 7: attribute width_scale removed": "what opset 6 has is refused",
    "Upsample 7: attribute scales added": "nothing is converted to opset 6",
    **{
        f"Scan 9: attribute scan_{kind} added": "nothing is converted to opset 8"
        for kind in ("input_axes", "input_directions", "output_axes", "output_directions")
    },
    "Scan 9: input initial_state_and_scan_inputs removed": "all of opset 8 is refused",
    "Scan 9: attribute directions removed": "all of opset 8 is refused: test_scan_sum",
    "Gemm 11: input C is optional": "a model of opset 10 has it",
    "Resize 13: input roi is optional": "a model of opset 12 has it",
    "Resize 13: input scales is optional": "a model of opset 12 has it",
}
# Element types of onnx 1.23 that no runtime computes with.
WITHOUT_RUNTIME = {onnx.TensorProto.FLOAT6E2M3, onnx.TensorProto.FLOAT6E3M2}


@cache
def by_operator() -> dict[str, list[Case]]:
    return single_nodes([*newer_models(), *load_cases()])


def faults(case: Case, opsets: list[int | None]) -> list[Outcome]:
    return [outcome for outcome in judged(case, RUNTIMES, opsets) if outcome.is_fault]


@pytest.mark.parametrize("older", older_models(), ids=lambda older: str(older.case.name))
def test_older_models_become_newer_ones(older: Older) -> None:
    outcomes = judged(older.case, RUNTIMES, [OLDEST, 17, 18, 21, NEWEST])
    if not older.case.expected:
        assert {outcome.kind for outcome in outcomes} == {"refused"}
        return
    # The tables begin at opset 7: what opset 6 had otherwise is refused.
    allowed = {"right"} if older.case.opset >= 7 else {"right", "refused"}
    assert [outcome for outcome in outcomes if outcome.kind not in allowed] == []


def probe(change: Change, position: int, element: int) -> Case | None:
    """A model that has the type, one that something runs if there is one."""
    found = None
    for case in by_operator().get(change.op, []):
        made = in_type(case, change.since, position, element)
        found = made or found
        if made is not None and runs(made):
            return made
    return found


def gained_types() -> Iterator[tuple[Change, int, int]]:
    """Of inputs, after opset 13: with the input's place."""
    for change in changes():
        gained = GAINS.fullmatch(change.what)
        element = element_type(gained[2]) if gained else None
        if (
            gained is None
            or element is None
            or change.since <= OLDEST
            or element in WITHOUT_RUNTIME
        ):
            continue
        inputs = onnx.defs.get_schema(change.op, change.since).inputs
        names = [formal.name for formal in inputs]
        yield change, names.index(gained[1]), element


def test_types_that_the_older_version_lacks_are_cast_or_refused() -> None:
    tried = 0
    for change, position, element in gained_types():
        case = probe(change, position, element)
        if case is None:
            continue
        tried += 1
        assert faults(case, [change.since - 1]) == [], str(change)
    assert tried > 300


@pytest.mark.parametrize("element", sorted(WITHOUT_RUNTIME))
def test_types_without_a_runtime_are_read_and_written(element: int) -> None:
    value = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT)
    inputs, outputs = [value("x", element, [2])], [value("y", onnx.TensorProto.FLOAT, [2])]
    graph = onnx.helper.make_graph([node], "model", inputs, outputs)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 28)])
    optimized, _ = sardonyx.optimize(model)
    assert optimized.graph.input[0].type.tensor_type.elem_type == element
    assert [each.op_type for each in optimized.graph.node] == ["Cast"]
    model.graph.input[0].type.tensor_type.elem_type = 99
    with pytest.raises(sardonyx.ProgramError, match="SX1153"):
        sardonyx.optimize(model)


def uses(case: Case, change: Change) -> bool:
    """Whether the model has what was added or removed, with another meaning than without it."""
    (node,) = case.model.graph.node
    name = change.what.split(" ")[0]
    if change.what.endswith("removed"):
        return case.opset < change.since and any(a.name == name for a in node.attribute)
    if case.opset < change.since:
        return False
    schema = onnx.defs.get_schema(node.op_type, case.opset)
    if change.kind == "attribute":
        given = [a for a in node.attribute if a.name == name]
        if "defaults to" in change.what:
            return True
        formal = schema.attributes.get(name)
        return any(
            formal is None or onnx.helper.get_attribute_value(a) != default(formal) for a in given
        )
    formals, values = (
        (schema.inputs, node.input) if change.kind == "input" else (schema.outputs, node.output)
    )
    places = [i for i, formal in enumerate(formals) if formal.name == name]
    if change.what.endswith("is optional"):
        return any(i >= len(values) or not values[i] for i in places)
    return any(i < len(values) and values[i] for i in places)


def test_what_the_other_version_lacks_is_expressed_or_refused() -> None:
    tried = 0
    for change in changes():
        if change.kind == "type" or change.since <= OLDEST:
            continue
        for case in by_operator().get(change.op, []):
            if uses(case, change):
                tried += 1
                other = change.since - (0 if change.what.endswith("removed") else 1)
                assert faults(case, [other]) == [], str(change)
    assert tried > 100


@pytest.mark.parametrize("case", newer_models(), ids=lambda case: str(case.name))
def test_newer_models_stay(case: Case) -> None:
    assert faults(case, [None, *range(OLDEST, NEWEST + 1)]) == []


def test_every_change_has_a_model() -> None:
    covered = {text for older in older_models() for text in older.covers} | set(NO_MATTER)
    missing = [
        str(change)
        for change in changes()
        if change.kind != "type"
        and str(change) not in covered
        and not any(uses(case, change) for case in by_operator().get(change.op, []))
    ]
    assert missing == []

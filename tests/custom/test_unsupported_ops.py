"""Operators without a translation, kept as nodes of their own."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
import torch
from torch import nn

import sardonyx

from .test_translators import Scaled

X = torch.randn(4, 4)
TYPES = sardonyx.OperatorExportTypes


class Hashed(nn.Module):
    """Calls one of PyTorch's test operators: it has no translation and is never decomposed."""

    def forward(self, x: torch.Tensor) -> Any:
        return torch.ops.aten._foobar(x.abs())


def test_it_is_an_error_by_itself() -> None:
    with pytest.raises(sardonyx.UnsupportedOperatorError, match="aten::_foobar"):
        sardonyx.export(Hashed(), (X,))


def test_as_it_is() -> None:
    with pytest.warns(DeprecationWarning, match="operator_export_type"):
        program = sardonyx.export(Hashed(), (X,), operator_export_type=TYPES.ONNX_FALLTHROUGH)
    node = program.model_proto.graph.node[-1]
    assert (node.domain, node.op_type, len(node.output)) == ("aten", "_foobar", 1)
    assert {e.domain for e in program.model_proto.opset_import} == {"", "aten"}
    (note,) = program.notes
    assert (note.code, note.severity, note.op) == ("SX1311", "note", "aten::_foobar")
    assert note.file == __file__


@pytest.mark.parametrize("kind", [TYPES.ONNX_ATEN, TYPES.ONNX_ATEN_FALLBACK])
def test_as_a_node_of_aten(kind: Any) -> None:
    with pytest.warns(DeprecationWarning, match="operator_export_type"):
        program = sardonyx.export(Hashed(), (X,), operator_export_type=kind)
    node = program.model_proto.graph.node[-1]
    assert (node.domain, node.op_type) == ("org.pytorch.aten", "ATen")
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert attributes == {
        "operator": b"_foobar",
        "overload_name": b"",
        "arg1": 1,
        "arg2": 1,
        "arg3": 1,
    }
    assert [note.op for note in program.notes] == ["aten::_foobar"]


def test_arguments_become_attributes() -> None:
    program = sardonyx.convert(torch.export.export(Scaled(), (X,)), fall_through="as-is")
    node = program.model_proto.graph.node[0]
    assert (node.domain, node.op_type) == ("custom_tests", "scaled")
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert attributes == {"factor": 3.0, "offset": 1}
    with pytest.raises(sardonyx.UsageError, match="fall_through"):
        sardonyx.convert(torch.export.export(Scaled(), (X,)), fall_through="maybe")


def test_torch_enumerators_mean_the_same() -> None:
    own = pytest.importorskip("torch.onnx").OperatorExportTypes
    with pytest.warns(DeprecationWarning, match="operator_export_type"):
        program = sardonyx.export(Scaled(), (X,), operator_export_type=own.ONNX_FALLTHROUGH)
    assert program.model_proto.graph.node[0].op_type == "scaled"
    with pytest.raises(sardonyx.UsageError, match="OperatorExportTypes"):
        sardonyx.export(Scaled(), (X,), operator_export_type="ONNX_FALLTHROUGH")

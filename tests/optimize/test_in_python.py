"""`sardonyx.optimize` on every kind of model that it takes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx import helper, numpy_helper

import sardonyx
from tests.optimize.models import layered, run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    onnx.save(layered(), path)
    return path


def assert_same(model: onnx.ModelProto) -> None:
    onnx.checker.check_model(model, full_check=True)
    np.testing.assert_allclose(run(model), run(layered()), rtol=1e-5, atol=1e-5)
    assert "Identity" not in [node.op_type for node in model.graph.node]


def test_a_file_to_a_file(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    out = tmp_path / "out.onnx"
    done, report = sardonyx.optimize(path, out)
    assert done == out
    assert path.read_bytes() == before
    assert_same(onnx.load(out))
    assert (report.nodes_before, report.nodes_after) == (7, len(onnx.load(out).graph.node))
    assert report.count("drop-identity") == 2
    assert str(report).startswith(f"{report.nodes_after} nodes, 7 before\n")


def test_a_file_in_place(path: Path) -> None:
    sardonyx.optimize(path, path)
    assert_same(onnx.load(path))


def test_a_file_in_place_with_its_data_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(layered(), path, save_as_external_data=True, location="model.onnx.data")
    sardonyx.optimize(path, path)
    assert (tmp_path / "model.onnx.data").exists()
    assert path.stat().st_size < 8000
    np.testing.assert_allclose(run(str(path)), run(layered()), rtol=1e-5, atol=1e-5)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.onnx", "model.onnx.data"]


def test_where_weights_go_can_be_said(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    sardonyx.optimize(path, out, external_data=True)
    assert (tmp_path / "out.onnx.data").exists()
    sardonyx.optimize(out, tmp_path / "again.onnx", external_data=False)
    assert not (tmp_path / "again.onnx.data").exists()
    assert_same(onnx.load(tmp_path / "again.onnx"))


def test_a_file_to_a_program(path: Path) -> None:
    program, report = sardonyx.optimize(path)
    assert isinstance(program, sardonyx.ONNXProgram)
    assert program.node_count == report.nodes_after
    assert_same(program.model_proto)


def test_a_proto_stays_what_it_is() -> None:
    model = layered()
    before = model.SerializeToString()
    done, _ = sardonyx.optimize(model)
    assert isinstance(done, onnx.ModelProto)
    assert model.SerializeToString() == before
    assert_same(done)


def test_a_proto_whose_weights_are_numbers() -> None:
    model = layered()
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor).reshape(-1).tolist()
        tensor.ClearField("raw_data")
        tensor.float_data.extend(values)
    assert_same(sardonyx.optimize(model).model)


def test_a_proto_keeps_what_it_says() -> None:
    model = layered()
    model.graph.doc_string = "of the graph"
    model.graph.initializer[0].doc_string = "of a weight"
    model.metadata_props.add(key="license", value="yes")
    model.graph.input.append(
        helper.make_tensor_value_info("layer.0.w", onnx.TensorProto.FLOAT, [64, 64])
    )
    done, _ = sardonyx.optimize(model)
    assert done.graph.doc_string == "of the graph"
    assert [(p.key, p.value) for p in done.metadata_props] == [("license", "yes")]
    [weight] = [t for t in done.graph.initializer if t.name == "layer.0.w"]
    assert weight.doc_string == "of a weight"
    assert weight.raw_data == model.graph.initializer[0].raw_data
    assert "layer.0.w" in [value.name for value in done.graph.input]


def test_an_ir_model() -> None:
    model = onnx_ir.from_proto(layered())
    done, report = sardonyx.optimize(model)
    assert isinstance(done, onnx_ir.Model)
    assert report.nodes_before == 7
    assert len(list(model.graph)) == 7
    assert_same(onnx_ir.to_proto(done))


def test_an_ir_model_with_an_overridable_input_and_strings() -> None:
    proto = layered()
    proto.graph.input.append(
        helper.make_tensor_value_info("layer.0.w", onnx.TensorProto.FLOAT, [64, 64])
    )
    proto.graph.initializer.append(
        onnx.helper.make_tensor("words", onnx.TensorProto.STRING, [2], [b"a", b"b"])
    )
    proto.graph.node.append(helper.make_node("Identity", ["words"], ["said"], "/said"))
    proto.graph.output.append(helper.make_tensor_value_info("said", onnx.TensorProto.STRING, [2]))
    native = sardonyx.ONNXProgram(onnx_ir.from_proto(proto))
    assert native.input_names == ["x", "layer.0.w"]
    done = native.model_proto
    assert "layer.0.w" in [tensor.name for tensor in done.graph.initializer]
    [words] = [tensor for tensor in done.graph.initializer if tensor.name == "words"]
    assert list(words.string_data) == [b"a", b"b"]


def test_a_program_is_optimized_itself() -> None:
    program = sardonyx.ONNXProgram(onnx_ir.from_proto(layered()))
    done, _ = sardonyx.optimize(program)
    assert done is program
    assert_same(program.model_proto)


def test_rules_can_be_left_out() -> None:
    done, report = sardonyx.optimize(layered(), disable=["drop-identity"])
    assert [node.op_type for node in done.graph.node].count("Identity") == 2
    assert report.count("drop-identity") == 0
    first, _ = sardonyx.optimize(layered(), stop_after="drop-identity")
    assert len(first.graph.node) == 5


@pytest.mark.parametrize("option", [{"disable": ["drop-identty"]}, {"stop_after": "drop-identty"}])
def test_a_rule_that_there_is_not(option: dict, path: Path, tmp_path: Path) -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match="did you mean `drop-identity`") as raised:
        sardonyx.optimize(path, tmp_path / "out.onnx", **option)
    assert [each.code for each in raised.value.diagnostics] == ["SX1801"]
    assert not (tmp_path / "out.onnx").exists()


def refused(model: Path | onnx.ModelProto, out: Path | None, code: str) -> None:
    with pytest.raises(sardonyx.OnnxExporterError) as raised:
        sardonyx.optimize(model, out)
    assert [each.code for each in raised.value.diagnostics] == [code]
    assert out is None or out.read_bytes() == b"what was there"


@pytest.mark.parametrize(("node", "read"), [(0, "v1"), (1, "nobody")], ids=["cycle", "dangling"])
def test_a_graph_in_no_order(node: int, read: str, tmp_path: Path) -> None:
    model = layered()
    model.graph.node[node].input[0] = read
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(model, path)
    out.write_bytes(b"what was there")
    refused(path, out, "SX1152")
    refused(model, None, "SX1152")


@pytest.mark.parametrize(
    ("key", "value"), [("location", "../weights.bin"), ("offset", str(1 << 40))]
)
def test_external_data_that_is_not_there(key: str, value: str, tmp_path: Path) -> None:
    path, out = tmp_path / "inside" / "model.onnx", tmp_path / "out.onnx"
    path.parent.mkdir()
    onnx.save(layered(), path, save_as_external_data=True, location="weights.bin")
    (tmp_path / "weights.bin").write_bytes((path.parent / "weights.bin").read_bytes())
    model = onnx.load(path, load_external_data=False)
    for entry in model.graph.initializer[0].external_data:
        if entry.key == key:
            entry.value = value
    onnx.save(model, path)
    out.write_bytes(b"what was there")
    refused(path, out, "SX1155")


@pytest.mark.parametrize(
    ("options", "code"), [({"opset": 5}, "SX1002"), ({"runtime": "toaster"}, "SX1010")]
)
def test_usage_errors(options: dict, code: str) -> None:
    with pytest.raises(sardonyx.UsageError, match=code):
        sardonyx.optimize(layered(), **options)


def test_what_is_no_model() -> None:
    with pytest.raises(sardonyx.UsageError, match="not dict"):
        sardonyx.optimize({})


def test_an_older_opset_and_a_newer_one() -> None:
    for opset in (13, 22):
        done, _ = sardonyx.optimize(layered(), opset=opset)
        assert [each.version for each in done.opset_import if not each.domain] == [opset]
        assert_same(done)


def test_files_need_neither_torch_nor_onnx(path: Path, tmp_path: Path) -> None:
    code = (
        "import sys, sardonyx\n"
        f"sardonyx.optimize({str(path)!r}, {str(tmp_path / 'out.onnx')!r})\n"
        "print([name for name in ('torch', 'onnx', 'numpy', 'onnx_ir') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nodes_keep_their_names() -> None:
    model = layered()
    for node in model.graph.node:
        node.doc_string = f"about {node.name}"
    done, _ = sardonyx.optimize(model)
    before = {node.output[0]: node.name for node in model.graph.node}
    for node in done.graph.node:
        if node.op_type in ("MatMul", "Relu"):
            assert node.name == before[node.output[0]]
            assert node.doc_string == f"about {node.name}"


def test_what_it_returns_is_a_pair_with_names(path: Path, tmp_path: Path) -> None:
    done = sardonyx.optimize(path, tmp_path / "out.onnx")
    assert done == (done.model, done.report)
    assert repr(done).startswith("Optimized(model=")
    again = pickle.loads(pickle.dumps(sardonyx.Optimized("model", done.report)))
    assert (type(again), again.model) == (sardonyx.Optimized, "model")

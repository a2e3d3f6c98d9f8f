"""Third-party models: their content is kept, and errors in them do not end a run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import sardonyx
import sardonyx._native as native
from tests.harness.command import run_command

Array = np.ndarray


def parsed(model: onnx.ModelProto) -> native.Model:
    return native.parse_model(model.SerializeToString())


def serialized(model: native.Model) -> onnx.ModelProto:
    data = native.serialize(model, include_initializers=True, keep_initializers_as_inputs=False)
    return onnx.load_from_string(data)


def optimized(model: onnx.ModelProto) -> onnx.ModelProto:
    read = parsed(model)
    native.optimize(read, stop_after="")
    return serialized(read)


def run(model: onnx.ModelProto, inputs: dict[str, Array]) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, inputs))


# --- the onnx package's own models


def node_cases() -> Iterator[tuple[str, onnx.ModelProto, list[Array], list[Array]]]:
    from onnx.backend.test.loader import load_node_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in load_node_model_tests():
            if case.model is not None and case.data_sets:
                yield case.name, case.model, *case.data_sets[0]


@pytest.fixture(scope="module")
def cases() -> list[tuple[str, onnx.ModelProto, list[Array], list[Array]]]:
    return list(node_cases())


def normalized(model: onnx.ModelProto) -> onnx.ModelProto:
    """As another writer may put the same: raw data, domains in order, constants as initializers."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    opsets = sorted((o.domain.replace("ai.onnx", "") or "", o.version) for o in model.opset_import)
    del result.opset_import[:]
    result.opset_import.extend(helper.make_opsetid(*each) for each in opsets)
    for node in all_nodes(result.graph.node):
        for field in ("domain", "overload", "doc_string", "name"):
            if not getattr(node, field):
                node.ClearField(field)  # empty and absent are one
    for tensor in all_tensors(result.graph):
        raw = numpy_helper.from_array(numpy_helper.to_array(tensor))
        raw.doc_string = tensor.doc_string
        tensor.CopyFrom(raw)
    return result


def all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from all_nodes(attribute.g.node)


def all_tensors(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    for node in all_nodes(graph.node):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t


def has_constants(model: onnx.ModelProto) -> bool:
    """Nodes that become initializers, or initializers of bodies that become the main graph's."""
    nodes = [*model.graph.node, *(node for f in model.functions for node in f.node)]
    return any(
        node.op_type == "Constant" or any(a.g.initializer for a in node.attribute)
        for node in all_nodes(nodes)
    )


def test_what_is_read_is_what_is_written(
    cases: list[tuple[str, onnx.ModelProto, list[Array], list[Array]]],
) -> None:
    compared = 0
    for name, model, _, _ in cases:
        written = serialized(parsed(model))
        if has_constants(model):
            continue
        assert normalized(written) == normalized(model), name
        compared += 1
    assert compared > 1400


def test_optimized_models_give_the_same_answers(
    cases: list[tuple[str, onnx.ModelProto, list[Array], list[Array]]],
) -> None:
    compared = 0
    holding_others = [case for case in cases if holds_more_than_tensors(case[1])]
    assert holding_others
    for name, model, inputs, _ in [*cases[::8], *holding_others]:
        feeds = {v.name: a for v, a in zip(model.graph.input, inputs, strict=False)}
        try:
            expected = run(model, feeds)
        except Exception:  # no kernel for it, or it is not for inference
            continue
        if any(node.op_type in RANDOM for node in model.graph.node):
            continue
        for got, answer in zip(run(sardonyx.optimize(model)[0], feeds), expected, strict=True):
            assert_same(got, answer, name)
        compared += 1
    assert compared > 100


def holds_more_than_tensors(model: onnx.ModelProto) -> bool:
    """Sequences and optionals come in or go out."""
    values = [*model.graph.input, *model.graph.output]
    return any(value.type.WhichOneof("value") != "tensor_type" for value in values)


def assert_same(got: Array, answer: Array, name: str) -> None:
    """The same, but for the last digits where one operator stands for several that round each."""
    if not isinstance(answer, np.ndarray) or answer.dtype.kind != "f":
        np.testing.assert_equal(got, answer, err_msg=name)
        return
    assert got.dtype == answer.dtype, name
    step = float(np.finfo(answer.dtype).eps)
    finite = answer[np.isfinite(answer)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    np.testing.assert_allclose(got, answer, rtol=4 * step, atol=2 * step * largest, err_msg=name)


RANDOM = {"Bernoulli", "Dropout", "RandomNormal", "RandomUniform", "Multinomial"}


# --- what survives


def adding(*, declared: list[int | str]) -> onnx.ModelProto:
    """y = (x + w) + b, where something is declared of x + w."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])
    sum_ = helper.make_tensor_value_info("sum", TensorProto.FLOAT, declared)
    nodes = [
        helper.make_node("Identity", ["x"], ["same"]),
        helper.make_node("Add", ["same", "w"], ["sum"]),
        helper.make_node("Identity", ["sum"], ["sum_2"]),
        helper.make_node("Add", ["sum_2", "w"], ["y"]),
    ]
    w = numpy_helper.from_array(np.array([1, 2], np.float32), "w")
    graph = helper.make_graph(nodes, "adding", [x], [y], [w], value_info=[sum_])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="other"
    )


def test_an_overridable_input_is_no_constant() -> None:
    model = adding(declared=["N", 2])
    w = helper.make_tensor_value_info("w", TensorProto.FLOAT, [2])
    model.graph.input.append(w)
    after = optimized(model)
    assert [v.name for v in after.graph.input] == ["x", "w"]
    assert [t.name for t in after.graph.initializer] == ["w"]
    x = np.zeros((1, 2), np.float32)
    np.testing.assert_array_equal(run(after, {"x": x})[0], [[2, 4]])
    other = {"x": x, "w": np.array([5, 6], np.float32)}
    np.testing.assert_array_equal(run(after, other)[0], [[10, 12]])


def test_initializers_that_are_inputs_are_frozen_on_request() -> None:
    model = adding(declared=["N", 2])
    weight = np.arange(4, dtype=np.float32).reshape(2, 2)
    model.graph.initializer.append(numpy_helper.from_array(weight, "matrix"))
    model.graph.node[0].CopyFrom(helper.make_node("MatMul", ["x", "matrix"], ["same"]))
    for name, dims in (("w", [2]), ("matrix", [2, 2])):
        model.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
    kept, report = sardonyx.optimize(model)
    assert [v.name for v in kept.graph.input] == ["x", "w", "matrix"]
    assert [each.rule for each in report.declined] == ["freeze-initializers"]
    frozen, report = sardonyx.optimize(model, freeze_initializers=True)
    assert [v.name for v in frozen.graph.input] == ["x"]
    assert report.count("freeze-initializers") == 2
    assert not report.declined
    x = np.ones((1, 2), np.float32)
    np.testing.assert_array_equal(run(frozen, {"x": x})[0], run(model, {"x": x})[0])
    # Before PyTorch 1.5 nobody chose it.
    model.ir_version = 4
    assert [v.name for v in sardonyx.optimize(model)[0].graph.input] == ["x"]
    kept, _ = sardonyx.optimize(model, freeze_initializers=False)
    assert [v.name for v in kept.graph.input] == ["x", "w", "matrix"]
    model.graph.input.pop()
    kept, _ = sardonyx.optimize(model)
    assert [v.name for v in kept.graph.input] == ["x", "w"]


def test_a_spectrum_has_the_shape_that_the_checker_finds() -> None:
    """onnx.checker takes `onesided` for 0 where it is not said."""
    hop = numpy_helper.from_array(np.int64(160), "hop")
    window = numpy_helper.from_array(np.hanning(400).astype(np.float32), "window")
    graph = helper.make_graph(
        [
            helper.make_node("STFT", ["x", "hop", "window"], ["s"]),
            helper.make_node("Abs", ["s"], ["y"]),
        ],
        "spectrum",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", 16000])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", "t", "f", 2])],
        [hop, window],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    after, _ = sardonyx.optimize(model)
    onnx.checker.check_model(after, full_check=True)


def test_documentation_and_metadata_survive() -> None:
    model = adding(declared=["N", 2])
    model.graph.doc_string = "of the graph"
    model.graph.node[3].doc_string = "of a node"
    model.graph.input[0].doc_string = "of an input"
    model.graph.initializer[0].doc_string = "of a weight"
    model.graph.input[0].type.denotation = "IMAGE"
    model.graph.input[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    entry = model.graph.metadata_props.add()
    entry.key, entry.value = "key", "value"
    annotation = model.graph.quantization_annotation.add()
    annotation.tensor_name = "y"
    parameter = annotation.quant_parameter_tensor_names.add()
    parameter.key, parameter.value = "SCALE_TENSOR", "y_scale"
    scale = numpy_helper.from_array(np.array(0.5, np.float32), "y_scale")
    model.graph.initializer.append(scale)
    after = optimized(model)
    assert len(after.graph.node) == 2
    assert after.graph.doc_string == "of the graph"
    assert after.graph.node[1].doc_string == "of a node"
    assert after.graph.input[0] == model.graph.input[0]
    assert after.graph.initializer[0].doc_string == "of a weight"
    assert after.graph.metadata_props == model.graph.metadata_props
    assert after.graph.quantization_annotation == model.graph.quantization_annotation
    assert "y_scale" in [t.name for t in after.graph.initializer]
    assert after.producer_name == "other"


def test_training_information_is_refused() -> None:
    model = adding(declared=["N", 2])
    model.training_info.add().algorithm.name = "training"
    assert serialized(parsed(model)).training_info == model.training_info
    with pytest.raises(sardonyx.OnnxExporterError, match="SX1803"):
        optimized(model)


# --- what is wrong


@pytest.mark.parametrize("declared", [["N", 3], [7, 2], [2], ["N", 2, 1]])
def test_a_wrong_declaration_declines_rules(declared: list[int | str], tmp_path: Path) -> None:
    model = adding(declared=declared)
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(model, before)
    done = run_command("optimize", before, "-o", after, "--explain")
    assert done.returncode == 0, done.stderr
    assert "infer-types declined: 'sum' is declared float32" in done.stdout
    assert "drop-identity declined: the declared type of 'sum'" in done.stdout
    right = adding(declared=["N", 2])
    x = {"x": np.ones((3, 2), np.float32)}
    np.testing.assert_array_equal(run(onnx.load(after), x)[0], run(right, x)[0])


def test_a_wrong_element_type_declines_rules() -> None:
    model = adding(declared=["N", 2])
    model.graph.value_info[0].type.tensor_type.elem_type = TensorProto.INT64
    after = optimized(model)
    x = {"x": np.ones((3, 2), np.float32)}
    np.testing.assert_array_equal(run(after, x)[0], run(adding(declared=["N", 2]), x)[0])


def test_a_missing_required_input_stays_as_it_was() -> None:
    model = adding(declared=["N", 2])
    model.graph.node[3].input[1] = ""
    after = optimized(model)
    node = after.graph.node[-1]
    assert (node.op_type, list(node.input)) == ("Add", ["sum", ""])
    assert len(after.graph.node) < len(model.graph.node)


def test_an_unknown_domain_is_passed_over() -> None:
    model = adding(declared=["N", 2])
    model.opset_import.append(helper.make_opsetid("of.nobody", 3))
    model.graph.node[1].domain = "of.nobody"
    after = optimized(model)
    [node] = [n for n in after.graph.node if n.domain]
    assert (node.op_type, list(node.input)) == ("Add", ["x", "w"])
    assert ("of.nobody", 3) in [(o.domain, o.version) for o in after.opset_import]


SHAPES = """
<ir_version: 8, opset_import: ["" : 17]>
graph (float[N, 4] x) => (float[N, 2, 2] y) {
  axis = Constant<value_int = 1>()
  shape = Shape(x)
  width = Gather(shape, axis)
  two = Constant<value = int64 {2}>()
  half = Div(width, two)
  axes = Constant<value_ints = [0]>()
  first = Unsqueeze(half, axes)
  any = Constant<value_ints = [-1]>()
  target = Concat<axis = 0>(any, first, first)
  y = Reshape(x, target)
}
"""


def test_sizes_of_the_code_are_computed() -> None:
    model = onnx.parser.parse_model(SHAPES)
    after = optimized(model)
    assert [n.op_type for n in after.graph.node] == ["Reshape"]
    x = {"x": np.arange(12, dtype=np.float32).reshape(3, 4)}
    np.testing.assert_array_equal(run(after, x)[0], run(model, x)[0])


FUNCTION = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
graph (float[2, 3] x) => (float[2, 3] y) {
  z = own.twice(x)
  y = Identity(z)
}
<domain: "own", opset_import: ["" : 17]>
twice (a) => (b) {
  c = Identity(a)
  k = Constant<value_float = 2.0>()
  b = Mul(c, k)
}
"""


def test_rules_reach_functions() -> None:
    model = onnx.parser.parse_model(FUNCTION)
    after = optimized(model)
    assert [n.op_type for n in after.functions[0].node] == ["Constant", "Mul"]
    onnx.checker.check_model(after)
    x = {"x": np.ones((2, 3), np.float32)}
    np.testing.assert_array_equal(run(after, x)[0], 2 * x["x"])

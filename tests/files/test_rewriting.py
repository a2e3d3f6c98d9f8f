"""ONNX files read and written again say the same, judged by the onnx package and ONNX Runtime.

The models are the ones that the onnx package ships for testing: exports of several frameworks,
operator sets 6 to the newest, bodies, functions, sequences.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnxruntime
import pytest
from onnx import AttributeProto, GraphProto, NodeProto, numpy_helper

from sardonyx import _native

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
MODELS = sorted(DATA.rglob("*.onnx"))


def rewrite(source: Path, target: Path, external_data: bool, optimized: bool = False) -> None:
    model = _native.read_model(str(source))
    if optimized:
        _native.optimize(model, stop_after="")
    _native.write(
        model,
        str(target),
        external_data=external_data,
        include_initializers=True,
        keep_initializers_as_inputs=False,
    )


def attribute_content(attribute: AttributeProto) -> tuple[Any, ...]:
    value: Any = onnx.helper.get_attribute_value(attribute) if not attribute.ref_attr_name else None
    if attribute.type == AttributeProto.TENSOR and value is not None:
        value = tensor_content(value)
    elif attribute.type == AttributeProto.GRAPH:
        value = graph_content(value)
    elif attribute.type == AttributeProto.GRAPHS:
        value = [graph_content(each) for each in value]
    elif attribute.type in (AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS):
        value = list(value)
    return attribute.name, attribute.type, attribute.ref_attr_name, value


def tensor_content(tensor: onnx.TensorProto) -> tuple[Any, ...]:
    array = numpy_helper.to_array(tensor)
    data = array.tolist() if array.dtype == object else array.tobytes()
    return tensor.data_type, list(tensor.dims), data


def node_content(node: NodeProto) -> tuple[Any, ...]:
    return (
        node.op_type,
        node.domain,
        node.overload,
        node.name,
        list(node.input),
        list(node.output),
        [attribute_content(each) for each in node.attribute],
    )


def names_read(graph: GraphProto) -> set[str]:
    names = {output.name for output in graph.output}
    for node in graph.node:
        names.update(node.input)
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                names |= names_read(attribute.g)
    return names


def graph_content(graph: GraphProto) -> dict[str, Any]:
    """What a graph says, but for what the reader leaves behind by its own rules."""
    constants = {tensor.name for tensor in graph.initializer}
    computed = {name for node in graph.node for name in node.output}
    described = [each for each in graph.value_info if each.type.WhichOneof("value")]
    read = names_read(graph)
    return {
        "nodes": [node_content(node) for node in graph.node],
        "inputs": [(i.name, str(i.type)) for i in graph.input if i.name not in constants],
        "outputs": [(o.name, str(o.type)) for o in graph.output],
        "constants": {t.name: tensor_content(t) for t in graph.initializer if t.name in read},
        "values": sorted((v.name, str(v.type)) for v in described if v.name in computed),
    }


def model_content(model: onnx.ModelProto) -> dict[str, Any]:
    return {
        "graph": graph_content(model.graph),
        "functions": [
            (f.domain, f.name, list(f.input), list(f.output), list(map(node_content, f.node)))
            for f in model.functions
        ],
        # ONNX's own domain has two spellings.
        "opsets": {
            "" if each.domain == "ai.onnx" else each.domain: each.version
            for each in model.opset_import
        },
        "head": (model.ir_version, model.producer_name, model.producer_version, model.doc_string),
    }


def feeds(folder: Path, inputs: list[str]) -> dict[str, np.ndarray] | None:
    """The arrays of a test data set in the order of the inputs; None where some are no tensors."""
    arrays = {}
    for position, name in enumerate(inputs):
        file = folder / f"input_{position}.pb"
        if not file.exists():
            return None
        arrays[name] = numpy_helper.to_array(onnx.load_tensor(file))
    return arrays


def is_valid(path: Path) -> bool:
    try:
        onnx.checker.check_model(str(path))
    except onnx.checker.ValidationError:
        return False
    return True


def test_there_are_models() -> None:
    assert len(MODELS) > 100


@pytest.mark.parametrize("source", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.parametrize("external_data", [False, True], ids=["inside", "outside"])
def test_a_rewritten_model_says_the_same(source: Path, external_data: bool, tmp_path: Path) -> None:
    target = tmp_path / "rewritten.onnx"
    rewrite(source, target, external_data)
    assert model_content(onnx.load(target)) == model_content(onnx.load(source))
    if is_valid(source):
        onnx.checker.check_model(str(target))

    # Written again it is the same file, and the one that protobuf's own serializer makes.
    again = tmp_path / "again.onnx"
    rewrite(target, again, external_data=False)
    if not external_data:
        assert again.read_bytes() == target.read_bytes()
        serialized = onnx.load(target).SerializeToString(deterministic=True)
        assert serialized == target.read_bytes()


SMALL = [path for path in MODELS if (path.parent / "test_data_set_0").is_dir()]


@pytest.mark.parametrize("source", SMALL[::6], ids=lambda path: path.parent.name)
@pytest.mark.parametrize("optimized", [False, True], ids=["as it is", "optimized"])
def test_a_rewritten_model_computes_the_same(source: Path, optimized: bool, tmp_path: Path) -> None:
    target = tmp_path / "rewritten.onnx"
    rewrite(source, target, external_data=True, optimized=optimized)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        expected = onnxruntime.InferenceSession(source, options)
    except Exception as error:
        pytest.skip(f"ONNX Runtime does not run the original: {str(error)[:80]}")
    found = onnxruntime.InferenceSession(target, options)
    names = [each.name for each in expected.get_inputs()]
    assert [each.name for each in found.get_inputs()] == names
    arrays = feeds(source.parent / "test_data_set_0", names)
    if arrays is None:
        pytest.skip("its inputs are not all tensors")
    # Other operators may round otherwise.
    limits = {"rtol": 1e-5, "atol": 1e-6} if optimized else {"rtol": 0, "atol": 0}
    for left, right in zip(found.run(None, arrays), expected.run(None, arrays), strict=True):
        np.testing.assert_allclose(left, right, **limits)

"""The onnx package's node tests, as models for the C++ tests of inference and folding."""

from __future__ import annotations

import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest

BUILD = Path(os.environ.get("SARDONYX_BUILD", "build"))
OLDEST_OPSET = 13


def arrays(values: list[object]) -> bool:
    return all(isinstance(value, np.ndarray | np.generic) for value in values)


def initializers(infos: list[onnx.ValueInfoProto], values: list[object]) -> list[onnx.TensorProto]:
    return [
        onnx.numpy_helper.from_array(np.asarray(value), info.name)
        for info, value in zip(infos, values, strict=False)
    ]


def lay_out(folder: Path) -> int:
    """Writes the models as src/proto/node_corpus_test.cpp reads them; how many there are."""
    from onnx.backend.test.loader import load_node_model_tests

    count = 0
    for case in load_node_model_tests():
        model = case.model
        if model is None:
            continue
        opsets = [o.version for o in model.opset_import if o.domain == ""]
        if not opsets or opsets[0] < OLDEST_OPSET:
            continue
        count += 1
        (folder / f"{case.name}.onnx").write_bytes(model.SerializeToString())
        if not case.data_sets:
            continue
        inputs, outputs = case.data_sets[0]
        if not arrays(inputs) or not arrays(outputs):
            continue
        constant = onnx.ModelProto()
        constant.CopyFrom(model)
        constant.graph.initializer.extend(initializers(model.graph.input, inputs))
        del constant.graph.input[:]
        (folder / f"{case.name}.const").write_bytes(constant.SerializeToString())
        answers = onnx.helper.make_graph(
            [], "expected", [], [], initializers(model.graph.output, outputs)
        )
        expected = onnx.helper.make_model(answers, ir_version=model.ir_version)
        (folder / f"{case.name}.expect").write_bytes(expected.SerializeToString())
    return count


def test_inference_and_folding_agree(tmp_path: Path) -> None:
    program = BUILD / "src" / "proto" / "proto_test"
    if not program.is_file():
        pytest.fail(f"{program} is not built; SARDONYX_BUILD names the build folder")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflow in the package's own references
        assert lay_out(tmp_path) > 1000
    run = subprocess.run(
        [str(program), "--gtest_filter=NodeCorpus.*", "--gtest_brief=1"],
        env={**os.environ, "SARDONYX_NODE_CORPUS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "PASSED  ] 3 tests" in run.stdout, run.stdout

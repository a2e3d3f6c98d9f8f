"""ONNXProgram: looked at, edited, given weights, saved and run."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import onnxruntime as ort
import pytest
import safetensors.torch
import torch

import sardonyx


class MLPModel(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc0 = torch.nn.Linear(8, 8)
        self.fc1 = torch.nn.Linear(8, 2)

    def forward(self, tensor_x: torch.Tensor):
        return self.fc1(torch.sigmoid(self.fc0(tensor_x)))


X = torch.rand((5, 8))


@pytest.fixture
def model() -> MLPModel:
    torch.manual_seed(0)
    return MLPModel().eval()


@pytest.fixture
def program(model: MLPModel) -> sardonyx.ONNXProgram:
    return sardonyx.export(model, (X,), dynamic_shapes=({0: "batch"},))


def same(program: Any, model: torch.nn.Module, *args: torch.Tensor) -> None:
    with torch.no_grad():
        torch.testing.assert_close(program(*args)[0], model(*args), rtol=1e-4, atol=1e-5)


def test_it_holds_the_program_it_was_made_of(program: sardonyx.ONNXProgram) -> None:
    assert isinstance(program.exported_program, torch.export.ExportedProgram)


def test_model_proto_is_a_valid_message(program: sardonyx.ONNXProgram) -> None:
    assert isinstance(program.model_proto, onnx.ModelProto)
    onnx.checker.check_model(program.model_proto, full_check=True)


def test_the_ir_model_shares_the_weights(program: sardonyx.ONNXProgram, model: MLPModel) -> None:
    assert isinstance(program.model, onnx_ir.Model)
    assert program.model is program.model
    shared = program.model.graph.initializers["fc0.weight"].const_value
    assert shared is not None
    assert np.shares_memory(shared.numpy(), model.fc0.weight.detach().numpy())


def test_edits_of_the_ir_model_are_what_is_printed_run_and_saved(
    program: sardonyx.ONNXProgram, model: MLPModel, tmp_path: Path
) -> None:
    node = next(node for node in program.model.graph if node.op_type == "Sigmoid")
    node.op_type = "Tanh"
    assert "Tanh" in str(program)
    assert "::Sigmoid" not in str(program)
    with torch.no_grad():
        expected = model.fc1(torch.tanh(model.fc0(X)))
    torch.testing.assert_close(program(X)[0], expected, rtol=1e-4, atol=1e-5)
    program.save(tmp_path / "model.onnx")
    saved = onnx.load(tmp_path / "model.onnx")
    assert "Tanh" in [node.op_type for node in saved.graph.node]


def test_weights_and_names_given_to_the_ir_model_are_saved(program: sardonyx.ONNXProgram) -> None:
    graph = program.model.graph
    graph.initializers["fc1.bias"].const_value = onnx_ir.tensor(
        np.full(2, 7, np.float32), name="fc1.bias"
    )
    graph.inputs[0].name = "x"
    saved = program.model_proto
    assert saved.graph.input[0].name == "x"
    held = {t.name: onnx.numpy_helper.to_array(t) for t in saved.graph.initializer}
    np.testing.assert_array_equal(held["fc1.bias"], np.full(2, 7, np.float32))
    assert len(held) == 4


def test_a_model_may_be_put_in_the_place_of_another(program: sardonyx.ONNXProgram) -> None:
    other = onnx_ir.from_proto(program.model_proto)
    other.graph.name = "other"
    program.model = other
    assert program.model_proto.graph.name == "other"
    made = sardonyx.ONNXProgram(other, None)
    assert made.model is other
    torch.testing.assert_close(made(X)[0], program(X)[0])


def test_optimize_works_in_place(model: MLPModel) -> None:
    program = sardonyx.export(model, (X,), optimize=False)
    held = program.model
    first = held.graph[0]
    held.graph.insert_before(first, extra := onnx_ir.node("Identity", [held.graph.inputs[0]]))
    first.replace_input_with(0, extra.outputs[0])
    before = program.node_count
    program.optimize()
    assert program.model is held
    assert program.node_count < before
    same(program, model, X)


def test_apply_weights_reaches_the_ir_model(program: sardonyx.ONNXProgram) -> None:
    held = program.model
    torch.manual_seed(1)
    other = MLPModel().eval()
    program.apply_weights(other.state_dict())
    value = held.graph.initializers["fc1.bias"].const_value
    assert value is not None
    np.testing.assert_array_equal(value.numpy(), other.fc1.bias.detach().numpy())
    same(program, other, X)


class Neutral(torch.nn.Module):
    """Weights of one element, whose first values change nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(1.0))
        self.divisor = torch.nn.Parameter(torch.ones(1))
        self.addend = torch.nn.Parameter(torch.tensor(-0.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.factor + self.addend) / self.divisor


@pytest.mark.filterwarnings("ignore:do_constant_folding is deprecated")
def test_weights_that_change_nothing_yet_are_there_to_be_replaced() -> None:
    x = torch.randn(2, 3)
    exported = sardonyx.export(Neutral().eval(), (x,), do_constant_folding=False)
    other = Neutral()
    other.load_state_dict({"factor": torch.tensor(3.0), "divisor": torch.ones(1) * 5,
                           "addend": torch.tensor(7.0)})  # fmt: skip
    exported.apply_weights(other.state_dict())
    same(exported, other, x)


def test_all_weights_that_do_not_fit_are_named(program: sardonyx.ONNXProgram) -> None:
    wrong = {"fc0.weight": torch.zeros(3), "unknown": torch.zeros(1), "fc1.bias": torch.zeros(9)}
    with pytest.raises(sardonyx.OnnxExporterError) as caught:
        program.apply_weights(wrong)
    assert len(caught.value.diagnostics) == 3
    with pytest.raises(sardonyx.OnnxExporterError, match=r"'fc0\.bias' is a float, not a tensor"):
        program.apply_weights({"fc0.bias": 1.0})  # type: ignore[dict-item]


@pytest.mark.parametrize("form", ["file", "shards", "index", "folder"])
def test_weights_from_safetensors(program: sardonyx.ONNXProgram, tmp_path: Path, form: str) -> None:
    torch.manual_seed(2)
    other = MLPModel().eval()
    state = {name: tensor.contiguous() for name, tensor in other.state_dict().items()}
    if form == "file":
        safetensors.torch.save_file(state, given := tmp_path / "model.safetensors")
        program.apply_weights(given)
    else:
        names = list(state)
        shards = {"a.safetensors": names[:2], "b.safetensors": names[2:]}
        for file, held in shards.items():
            safetensors.torch.save_file({n: state[n] for n in held}, tmp_path / file)
        index = tmp_path / "model.safetensors.index.json"
        if form != "shards":
            weight_map = {name: file for file, held in shards.items() for name in held}
            index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
        paths = {"shards": [tmp_path / f for f in shards], "index": index, "folder": tmp_path}
        program.apply_weights(paths[form])
    same(program, other, X)


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 40, b"\x02\0\0\0\0\0\0\0[]", b"\5\0\0\0\0\0\0\0"]
)
def test_what_is_no_safetensors_file_is_refused(
    program: sardonyx.ONNXProgram, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    if content:
        with pytest.raises(sardonyx.OnnxExporterError, match="no safetensors file"):
            program.apply_weights(path)
    with pytest.raises(sardonyx.OnnxExporterError):
        program.apply_weights([path, tmp_path / "missing.safetensors"])


def test_places_outside_of_a_file_are_refused(
    program: sardonyx.ONNXProgram, tmp_path: Path
) -> None:
    header = {"fc1.bias": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    text = json.dumps(header).encode()
    path = tmp_path / "short.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * 4)
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX2005.*is cut short"):
        program.apply_weights(path)


@pytest.mark.parametrize("external", [True, False, None])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("as_inputs", [True, False])
@pytest.mark.parametrize("edited", [True, False])
def test_save_in_all_modes(  # noqa: PLR0917
    program: sardonyx.ONNXProgram,
    model: MLPModel,
    tmp_path: Path,
    external: bool | None,
    include: bool,
    as_inputs: bool,
    edited: bool,
) -> None:
    if edited:
        program.model.graph.name = "edited"
    path = tmp_path / "model.onnx"
    program.save(
        path,
        include_initializers=include,
        keep_initializers_as_inputs=as_inputs,
        external_data=external,
    )
    saved = onnx.load(path, load_external_data=include)
    names = {name for name, _ in model.named_parameters()}
    assert {tensor.name for tensor in saved.graph.initializer} == (names if include else set())
    inputs = {value.name for value in saved.graph.input}
    assert inputs == {"tensor_x"} | (names if as_inputs else set())
    if include or as_inputs:
        feed = {"tensor_x": X.numpy()}
        if not include:
            feed |= {name: value.detach().numpy() for name, value in model.named_parameters()}
        got = ort.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feed)
        with torch.no_grad():
            torch.testing.assert_close(torch.from_numpy(got[0]), model(X), rtol=1e-4, atol=1e-5)


def test_weights_listed_as_inputs_can_be_overridden(
    program: sardonyx.ONNXProgram, tmp_path: Path
) -> None:
    program.save(path := tmp_path / "model.onnx", keep_initializers_as_inputs=True)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    bias = np.full(2, 100, np.float32)
    plain = session.run(None, {"tensor_x": X.numpy()})[0]
    assert (session.run(None, {"tensor_x": X.numpy(), "fc1.bias": bias})[0] > plain + 90).all()


def test_external_data_needs_a_path(program: sardonyx.ONNXProgram) -> None:
    with pytest.raises(TypeError):
        program.save(io.BytesIO(), external_data=True)
    with pytest.raises(TypeError):
        program.save(12)  # type: ignore[arg-type]
    program.save(buffer := io.BytesIO())
    onnx.load_model_from_string(buffer.getvalue())


def test_sessions(program: sardonyx.ONNXProgram, model: MLPModel) -> None:
    seen: list[Any] = []

    def initializer(source: str | bytes) -> ort.InferenceSession:
        seen.append(source)
        return ort.InferenceSession(source, providers=["CPUExecutionProvider"])

    program.initialize_inference_session(initializer)
    assert isinstance(seen[0], bytes)
    same(program, model, X)
    program.release()
    program.release()
    same(program, model, X)  # a session of its own again
    assert len(seen) == 1


def test_runtime_options(program: sardonyx.ONNXProgram, model: MLPModel) -> None:
    session_options = ort.SessionOptions()
    session_options.intra_op_num_threads = 1
    options = sardonyx.ONNXRuntimeOptions(
        session_options=[session_options],
        execution_providers=["CPUExecutionProvider"],
        execution_provider_options=[{}],
    )
    with torch.no_grad():
        torch.testing.assert_close(program(X, options=options)[0], model(X), rtol=1e-4, atol=1e-5)
    program.initialize_inference_session(options=options)
    same(program, model, X)


def test_compute_values(program: sardonyx.ONNXProgram, model: MLPModel) -> None:
    with torch.no_grad():
        expected = torch.sigmoid(model.fc0(X))
    (got,) = program.compute_values(["sigmoid"], (X,))
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="no value 'nothing'"):
        program.compute_values(["nothing"], (X,))


def test_the_printed_form(program: sardonyx.ONNXProgram) -> None:
    text = str(program)
    assert '        %"tensor_x"<FLOAT,[batch,8]>\n' in text
    assert "0 |  # " in text
    assert '        %"sigmoid"<FLOAT,[batch,8]> ⬅️ ::Sigmoid(%"linear")' in text
    assert text.rstrip().endswith('return %"linear_1"<FLOAT,[batch,2]>\n}')

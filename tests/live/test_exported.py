"""What `sardonyx.export` returns: saving, weights, sessions, reports."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from onnx.numpy_helper import to_array
from torch import nn

import sardonyx
from tests.live.test_export import Scaled, X


def test_save_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    program = sardonyx.export(Scaled(), (X,), path)
    assert onnx.load(path) == program.model_proto
    buffer = io.BytesIO()
    program.save(buffer)
    assert buffer.getvalue() == path.read_bytes()


def test_initializer_modes(tmp_path: Path) -> None:
    program = sardonyx.export(Scaled(), (X,))
    for include in (True, False):
        for as_inputs in (True, False):
            path = tmp_path / f"{include}{as_inputs}.onnx"
            program.save(path, include_initializers=include, keep_initializers_as_inputs=as_inputs)
            graph = onnx.load(path).graph
            assert len(graph.initializer) == (2 if include else 0)
            assert len(graph.input) == (3 if as_inputs else 1)


def test_external_data(tmp_path: Path) -> None:
    # Weights of a few bytes stay in the model in any case.
    program = sardonyx.export(nn.Linear(64, 64), (torch.randn(2, 64),))
    program.save(tmp_path / "model.onnx", external_data=True)
    assert (tmp_path / "model.onnx.data").stat().st_size >= 64 * 64 * 4
    loaded, kept = onnx.load(tmp_path / "model.onnx"), program.model_proto
    for ours, theirs in zip(kept.graph.initializer, loaded.graph.initializer, strict=True):
        assert (to_array(ours) == to_array(theirs)).all()
    with pytest.raises(TypeError):
        program.save(io.BytesIO(), external_data=True)
    with pytest.raises(TypeError):
        program.save(3)  # type: ignore[arg-type]


def test_a_destination_that_cannot_be_written(tmp_path: Path) -> None:
    program = sardonyx.export(Scaled(), (X,))
    with pytest.raises(sardonyx.SaveError):
        program.save(tmp_path / "nowhere" / "model.onnx")
    with pytest.raises(sardonyx.SaveError):
        program.save(tmp_path)


class TiedHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight
        self.unused = nn.Linear(2, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(ids))


def test_weights_that_became_one_take_no_different_tensors(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    def model() -> nn.Sequential:
        return nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)).eval()

    module, other = model(), model()
    for layer in (module[0], module[2]):
        nn.init.zeros_(layer.bias)
    x = torch.randn(3, 4)
    program = sardonyx.export(module, (x,))
    sardonyx.optimize(program)  # biases of the same elements become one
    save_file(other.state_dict(), tmp_path / "other.safetensors")
    for source in (other.state_dict(), tmp_path / "other.safetensors"):
        with pytest.raises(
            sardonyx.OnnxExporterError, match=r"'0\.bias' and '2\.bias' had the same elements"
        ):
            program.apply_weights(source)
    torch.testing.assert_close(program(x)[0], module(x))
    nn.init.ones_(other[0].bias)
    nn.init.ones_(other[2].bias)
    program.apply_weights(other.state_dict())
    torch.testing.assert_close(program(x)[0], other(x))


def test_apply_weights() -> None:
    ids = torch.tensor([[1, 2]])
    program, other = sardonyx.export(TiedHead(), (ids,)), TiedHead()
    program(ids)  # the session that this makes must not stay
    program.apply_weights(other.state_dict())
    torch.testing.assert_close(program(ids)[0], other(ids))


def test_weights_that_do_not_fit_are_all_listed_and_none_applied() -> None:
    model = Scaled()
    program = sardonyx.export(model, (X,))
    state = {
        "linear.weight": torch.zeros(3, 4),
        "linear.bias": torch.zeros(4),
        "nothing": torch.zeros(1),
    }
    with pytest.raises(sardonyx.OnnxExporterError) as failure:
        program.apply_weights(state)
    assert len(failure.value.diagnostics) == 2
    torch.testing.assert_close(program(X)[0], model(X))


def test_a_fake_model_gets_its_weights_later(tmp_path: Path) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        model = Scaled()
        exported = torch.export.export(model, (torch.randn(2, 4),))
    program = sardonyx.export(exported)
    program.save(tmp_path / "shape.onnx", include_initializers=False)
    with pytest.raises(sardonyx.SaveError):
        program.save(tmp_path / "model.onnx")
    real = Scaled()
    program.apply_weights(real.state_dict())
    torch.testing.assert_close(program(X)[0], real(X))


def test_sessions() -> None:
    import onnxruntime

    made: list[Any] = []

    def initializer(model: str | bytes) -> Any:
        made.append(onnxruntime.InferenceSession(model))
        return made[-1]

    program = sardonyx.export(Scaled(), (X,))
    program.initialize_inference_session(initializer)
    first = program(X)[0]
    assert len(made) == 1
    program.release()
    torch.testing.assert_close(program(X)[0], first)
    with pytest.raises(sardonyx.OnnxExporterError, match="takes 1 inputs"):
        program(X, X, X)


def test_verify_finds_what_differs() -> None:
    sardonyx.export(Scaled(), (X,), verify=True)

    class Doubles(sardonyx.ONNXProgram):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return [2 * value for value in super().__call__(*args, **kwargs)]

    from sardonyx._export.verify import verify_example

    program = sardonyx.export(Scaled(), (X,))
    program.__class__ = Doubles
    with pytest.raises(sardonyx.VerificationError) as failure:
        verify_example(program, (X,), {})
    assert [d.code for d in failure.value.diagnostics] == ["SX1901"]


def test_dump_of_the_exported_program(tmp_path: Path) -> None:
    sardonyx.export(Scaled(), (X,), dump_exported_program=True, artifacts_dir=tmp_path / "made")
    (dumped,) = (tmp_path / "made").glob("*.pt2")
    assert sardonyx.convert(dumped).input_names == ["x"]


def test_reports(tmp_path: Path) -> None:
    sardonyx.export(Scaled(), (X,), report=True, artifacts_dir=tmp_path / "good")
    (report,) = (tmp_path / "good").glob("*_success.md")
    text = report.read_text(encoding="utf-8")
    assert "| capture | ✅ |" in text
    assert "Gemm" in text

    class Wrong(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("no | way")

    with pytest.raises(sardonyx.CaptureError):
        sardonyx.export(Wrong(), (X,), report=True, artifacts_dir=tmp_path / "bad")
    (report,) = (tmp_path / "bad").glob("*_failure.md")
    text = report.read_text(encoding="utf-8")
    assert "| capture | ❌ CaptureError |" in text
    assert "no \\| way" in text


def test_text() -> None:
    program = sardonyx.export(Scaled(), (X,), dynamic_shapes={"x": {0: "batch"}})
    assert '%"x"<FLOAT,[batch,4]>' in str(program)
    assert "Gemm" in str(program)
    assert repr(program).startswith("ONNXProgram((x) -> (")


def test_import_is_light() -> None:
    """How long it takes is measured by `make bench`; here only what it must not load."""
    code = (
        "import sys, sardonyx; sardonyx.OnnxExporterError; dir(sardonyx); "
        "print([m for m in ('torch', 'onnx', 'numpy', 'sardonyx._native') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_are_converted_without_torch(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(Scaled(), (X,)), tmp_path / "model.pt2")
    code = (
        "import sys; sys.modules['torch'] = None; import sardonyx; "
        "print(sardonyx.convert(sys.argv[1]).output_names)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model.pt2")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sardonyx.export(Scaled(), (X,)).output_names)

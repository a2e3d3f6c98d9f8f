"""The exporter's older interfaces and options."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from torch import nn

import sardonyx
from sardonyx import symbolic_helper

X = torch.randn(2, 3)


class Dropped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.linear(x))


# --- dynamo_export


def test_the_examples_of_dynamo_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    class MyModel(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: torch.Tensor, bias: Any = None) -> torch.Tensor:
            out = self.linear(x)
            out = out + bias
            return out  # noqa: RET504

    model = MyModel()
    kwargs = {"bias": 3.0}
    args = (torch.randn(2, 2, 2),)
    with pytest.warns(DeprecationWarning, match="dynamo_export"):
        onnx_program: Any = sardonyx.dynamo_export(model, *args, **kwargs).save(
            "my_simple_model.onnx"
        )
    onnx.checker.check_model("my_simple_model.onnx")

    # The previous model can be exported with dynamic shapes
    export_options = sardonyx.ExportOptions(dynamic_shapes=True)
    with pytest.warns(DeprecationWarning, match="dynamo_export"):
        onnx_program = sardonyx.dynamo_export(model, *args, **kwargs, export_options=export_options)
    onnx_program.save("my_dynamic_model.onnx")
    other = torch.randn(5, 3, 2)
    torch.testing.assert_close(onnx_program(other, **kwargs)[0], model(other, **kwargs))


def test_dynamo_export_of_a_function() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    options = sardonyx.ExportOptions(dynamic_shapes=True)
    with pytest.warns(DeprecationWarning, match="dynamo_export"):
        program = sardonyx.dynamo_export(twice, X, export_options=options)
    torch.testing.assert_close(program(torch.ones(4, 5))[0], torch.full((4, 5), 2.0))


# --- modes


def test_the_mode_of_a_model_is_put_back() -> None:
    model = nn.Sequential(Dropped(), nn.BatchNorm1d(2)).eval()
    model[0].dropout.train()
    before = [module.training for module in model.modules()]
    for mode, training in (("EVAL", False), ("TRAINING", True)):
        with sardonyx.select_model_mode_for_export(model, sardonyx.TrainingMode[mode]) as same:
            assert same is model
            assert all(module.training is training for module in model.modules())
        assert [module.training for module in model.modules()] == before
    with sardonyx.select_model_mode_for_export(model, sardonyx.TrainingMode.PRESERVE):
        assert [module.training for module in model.modules()] == before
    with (
        pytest.raises(TypeError, match="TrainingMode"),
        sardonyx.select_model_mode_for_export(model, "eval"),
    ):
        pass


def test_frozen_modules_have_no_mode() -> None:
    inner = torch.jit.freeze(torch.jit.trace(torch.nn.Sequential(torch.nn.Linear(3, 2)).eval(), X))
    for model in (inner, torch.nn.Sequential(inner, torch.nn.ReLU())):
        for mode in ("EVAL", "TRAINING", "PRESERVE"):
            program = sardonyx.export(model, (X,), training=sardonyx.TrainingMode[mode])
            torch.testing.assert_close(program(X)[0], model(X))
            assert not hasattr(inner, "training")
        sardonyx.export(model, (X,))


def test_each_mode_of_training() -> None:
    model = Dropped()
    for mode, begun_in_training, drops in (
        ("EVAL", True, False),
        ("EVAL", False, False),
        ("PRESERVE", True, True),
        ("PRESERVE", False, False),
        ("TRAINING", True, True),
        ("TRAINING", False, True),
    ):
        model.train(begun_in_training)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            program = sardonyx.export(model, (X,), training=sardonyx.TrainingMode[mode])
        assert (program.node_count > 1) == drops, (mode, begun_in_training)
        assert model.training is begun_in_training


def test_export_in_training_mode() -> None:
    model = Dropped().eval()
    assert "Dropout" not in str(sardonyx.export(model, (X,)))
    with pytest.warns(DeprecationWarning, match="training"):
        program = sardonyx.export(model, (X,), training=sardonyx.TrainingMode.TRAINING)
    assert len(program.model_proto.graph.node) > 1
    assert not model.training
    with pytest.raises(sardonyx.UsageError, match="TrainingMode"):
        sardonyx.export(model, (X,), training=True)


# --- reports


def test_pretty_string() -> None:
    text = sardonyx.export_to_pretty_string(
        Dropped().eval(), (X,), input_names=["given"], export_type=1, google_printer=True
    )
    assert "::Gemm(" in text
    assert '%"given"<FLOAT,[2,3]>' in text
    with pytest.raises(TypeError, match="no color"):
        sardonyx.export_to_pretty_string(Dropped(), (X,), color=1)


def test_verbose_prints_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    program = sardonyx.export(Dropped().eval(), (X,), verbose=True)
    told = capsys.readouterr()
    assert str(program) in told.out
    assert "capture" in told.err


def test_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    sardonyx.export(Dropped().eval(), (X,), profile=True)
    told = capsys.readouterr().err
    assert "[sardonyx] convert: " in told  # the steps
    assert "cumtime" in told  # and the functions
    assert "(capture)" in told


def test_logging(capsys: pytest.CaptureFixture[str]) -> None:
    sardonyx.enable_log()
    try:
        sardonyx.export(nn.ReLU(), (X,))
    finally:
        sardonyx.disable_log()
    assert "[sardonyx] convert" in capsys.readouterr().err
    sardonyx.export(nn.ReLU(), (X,))
    assert not capsys.readouterr().err


def test_unconvertible_operators() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            values = torch.linalg.eig(x)[0].real
            return torch.ops.aten._foobar(x + 1) + torch.ops.aten._foobar(x + 2), values

    graph, names = sardonyx.utils.unconvertible_ops(Two(), torch.randn(3, 3), opset_version=18)
    assert sorted(set(names)) == ["aten::_foobar", "aten::linalg_eig"]
    assert len(list(graph.nodes)) > 3
    assert sardonyx.unconvertible_ops(nn.ReLU(), (X,))[1] == []


def test_unconvertible_operators_of_a_script() -> None:
    class Branching(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if bool(x.sum() > 0):
                x = torch.relu(x)
            return torch.linalg.eig(x)[0].real

    script = torch.jit.script(Branching())
    graph, names = sardonyx.unconvertible_ops(script, torch.randn(3, 3))
    assert names == ["aten::linalg_eig"]
    assert "prim::If" in {node.kind() for node in graph.nodes()}
    assert sardonyx.unconvertible_ops(torch.jit.script(nn.ReLU()), (X,))[1] == []


def test_is_in_onnx_export_for_torch_too() -> None:
    seen: list[tuple[bool, bool]] = []

    class Asks(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append((sardonyx.is_in_onnx_export(), torch.onnx.is_in_onnx_export()))
            return x + 1

    sardonyx.export(Asks(), (X,))
    assert set(seen) == {(True, True)}
    Asks()(X)
    assert seen[-1] == (False, False)


def test_the_flag_of_an_export_may_be_a_property(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the older exporter's settings have it; it is set, and restored without being deleted."""
    from sardonyx._torch_private import export

    class Settings:
        _flag = False
        flag = property(lambda self: self._flag, lambda self, value: setattr(self, "_flag", value))

    settings = Settings()
    monkeypatch.setattr(export, "_export_flag", lambda: (settings, "flag"))
    with export.torch_sees_onnx_export():
        assert settings.flag
    assert not settings.flag


# --- saving


@pytest.mark.parametrize(("params", "as_inputs"), [(True, True), (False, True), (False, False)])
def test_weights_in_the_file(tmp_path: Path, params: bool, as_inputs: bool) -> None:
    path = tmp_path / "m.onnx"
    sardonyx.export(
        nn.Linear(3, 2), (X,), path, export_params=params, keep_initializers_as_inputs=as_inputs
    )
    graph = onnx.load(path).graph
    names = {"weight", "bias"}
    assert ({i.name for i in graph.initializer} >= names) == params
    assert ({i.name for i in graph.input} >= names) == as_inputs


class Normed(nn.Module):
    """Weights that would be folded into each other."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 2), nn.BatchNorm1d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.linear(x))


@pytest.mark.parametrize(
    "options",
    [{"export_params": False}, {"keep_initializers_as_inputs": True}],
    ids=["left out", "kept"],
)
@pytest.mark.parametrize("compiled", [False, True], ids=["module", "script"])
def test_weights_of_the_older_exporter_are_given_by_their_names(
    tmp_path: Path, options: dict[str, Any], compiled: bool
) -> None:
    ort = pytest.importorskip("onnxruntime")
    model, other = Normed().eval(), Normed().eval()
    other.load_state_dict({**other.state_dict(), "norm.running_mean": torch.full((2,), 0.5)})
    path = tmp_path / "m.onnx"
    given = torch.jit.script(model) if compiled else model
    sardonyx.export(given, (X,), path, dynamo=False, **options)
    session = ort.InferenceSession(path)
    inputs = {i.name for i in (*session.get_inputs(), *session.get_overridable_initializers())}
    weights = {k: v.numpy() for k, v in other.state_dict().items() if k in inputs}
    assert inputs - set(weights) == {"x"}
    assert len(weights) == 6
    (found,) = session.run(None, {"x": X.numpy(), **weights})
    torch.testing.assert_close(torch.from_numpy(found), other(X).detach())


def test_dimensions_have_names() -> None:
    with pytest.raises(sardonyx.UsageError, match="calls a dimension of 'x' 3, no string"):
        sardonyx.export(nn.Linear(3, 2), (X,), input_names=["x"], dynamic_axes={"x": {0: 3}})


# --- ONNX Runtime


def test_options_of_the_runtime() -> None:
    ort = pytest.importorskip("onnxruntime")
    session_options = ort.SessionOptions()
    session_options.intra_op_num_threads = 1
    session_options.log_severity_level = 3
    options = sardonyx.ONNXRuntimeOptions(
        session_options=[session_options],
        execution_providers=["CPUExecutionProvider"],
        execution_provider_options=[{}],
    )
    model = Dropped().eval()
    program = sardonyx.export(model, (X,))
    torch.testing.assert_close(program(X, options=options)[0], model(X))
    program.initialize_inference_session(sardonyx.ONNXRuntimeOptions().session)
    torch.testing.assert_close(program(X)[0], model(X))


# --- names


def test_scalar_types() -> None:
    kind = sardonyx.JitScalarType.from_dtype(torch.float32)
    assert (kind.scalar_name(), kind.torch_name(), kind.onnx_type()) == ("Float", "float", 1)
    assert kind.dtype() is torch.float32
    assert kind.onnx_compatible()
    assert symbolic_helper.JitScalarType.from_onnx_type(7).scalar_name() == "Long"
    assert symbolic_helper.JitScalarType.from_value(X).name == "FLOAT"
    with pytest.raises(sardonyx.OnnxExporterError, match="Unknown"):
        symbolic_helper.JitScalarType.from_dtype(None)
    with pytest.raises(sardonyx.OnnxExporterError, match="Unknown"):
        symbolic_helper.JitScalarType.from_onnx_type(99)


def test_numbers_of_scalar_types_are_those_of_torch() -> None:
    theirs = pytest.importorskip("torch.onnx").JitScalarType
    for member in theirs:
        if member.name in symbolic_helper.JitScalarType.__members__:
            assert symbolic_helper.JitScalarType[member.name] == int(member)


def test_every_name_is_there() -> None:
    for name in (*sardonyx.__all__, "op", "ops", "utils", "symbolic_helper"):
        assert getattr(sardonyx, name) is not None
    assert sardonyx.ExportOutput is sardonyx.ONNXProgram
    assert issubclass(sardonyx.OnnxExporterError, RuntimeError)


def test_importing_brings_in_nothing() -> None:
    code = (
        "import sys; import sardonyx; "
        "sys.exit(' '.join({'torch', 'onnx', 'numpy', 'onnxscript'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_graph_extractor() -> None:
    def doubled(x: torch.Tensor, *, scale: float = 2.0) -> torch.Tensor:
        return x * scale

    extractor = sardonyx.FXGraphExtractor()
    options = sardonyx.ExportOptions(dynamic_shapes=True)
    graph = extractor.generate_fx(options, doubled, (torch.ones(2, 3),), {"scale": 3.0}).graph
    calls = [str(node.target) for node in graph.nodes if node.op == "call_function"]
    assert calls == ["aten.mul.Tensor"]
    (x, *_) = [node for node in graph.nodes if node.op == "placeholder"]
    assert all(isinstance(size, torch.SymInt) for size in x.meta["val"].shape)

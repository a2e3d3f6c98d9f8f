"""The page of the TorchScript exporter: its examples as they stand there but for the import, and
what it says of inputs, outputs and indexing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch
from torch import nn

import sardonyx
from tests.harness import assert_exports


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class AlexNet(nn.Module):
    """As torchvision has it, eight times narrower: sixteen weights."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(8, 24, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(),
            nn.Conv2d(48, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
        )  # fmt: skip
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(), nn.Linear(32 * 36, 64), nn.ReLU(),
            nn.Dropout(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def test_alexnet_to_onnx(capsys: pytest.CaptureFixture[str]) -> None:
    dummy_input = torch.randn(10, 3, 224, 224)
    model = AlexNet().eval()

    input_names = ["actual_input_1"] + ["learned_%d" % i for i in range(16)]  # noqa: UP031
    output_names = ["output1"]

    sardonyx.export(
        model, dummy_input, "alexnet.onnx", verbose=True,
        input_names=input_names, output_names=output_names,
    )  # fmt: skip
    printed = capsys.readouterr().out
    for name in ("actual_input_1", "learned_15", "output1", "::Conv("):
        assert name in printed

    # Load the ONNX model
    model_proto = onnx.load("alexnet.onnx")

    # Check that the model is well formed
    onnx.checker.check_model(model_proto)

    # Print a human readable representation of the graph
    print(onnx.helper.printable_graph(model_proto.graph))
    assert "%learned_0[FLOAT, 8x3x11x11]" in capsys.readouterr().out
    weights = dict(zip(input_names[1:], model.state_dict().values(), strict=True))
    for tensor in model_proto.graph.initializer:
        if tensor.name in weights:
            assert list(tensor.dims) == list(weights.pop(tensor.name).shape)
    assert not weights

    ort_session = ort.InferenceSession("alexnet.onnx")

    images = np.random.randn(10, 3, 224, 224).astype(np.float32)  # noqa: NPY002
    outputs = ort_session.run(None, {"actual_input_1": images})
    with torch.no_grad():
        expected = model(torch.from_numpy(images))
    torch.testing.assert_close(torch.from_numpy(outputs[0]), expected, rtol=1e-3, atol=1e-4)


# --- tracing and scripting


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
        if x.sum() > 0:  # noqa: SIM108 (TorchScript makes a branch of it)
            y = self.linear(x) + self.shift
        else:
            y = -x + x.size(0)
        return y * scale


def matmul_and_size(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x @ y + x.size(0)


def compiled(how: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings():  # of torch.jit: which ones depends on the PyTorch
        warnings.simplefilter("ignore")
        return how(*arguments)


def same_as_torchscript(script: Any, args: Any, others: Any, **options: Any) -> Any:
    program = sardonyx.export(script, args, **options)
    for inputs in (args, *others):
        torch.testing.assert_close(program(*inputs)[0], script(*inputs).detach())
    return program


@pytest.mark.filterwarnings("ignore:do_constant_folding is deprecated")
def test_scripting_preserves_control_flow() -> None:
    x = torch.ones(2, 3)
    script = compiled(torch.jit.script, Branches())
    program = same_as_torchscript(
        script,
        (x,),
        [(-torch.ones(5, 3),), (torch.rand(4, 3),)],
        dynamic_shapes={"x": {0: "n"}},
        do_constant_folding=False,
    )
    assert program.input_names == ["x"]
    assert "::If(" in str(program)
    other = Branches()
    program.apply_weights(other.state_dict())
    torch.testing.assert_close(program(x)[0], other(x).detach())


def test_traced_modules_and_scripted_functions() -> None:
    x, y = torch.randn(2, 3), torch.randn(3, 3)
    traced = compiled(torch.jit.trace, nn.Sequential(nn.Linear(3, 4), nn.ReLU()), x)
    same_as_torchscript(traced, (x,), [])
    function = compiled(torch.jit.script, matmul_and_size)
    program = same_as_torchscript(
        function, (x, y), [(torch.randn(7, 3), y)], dynamic_axes={"x": {0: "rows"}},
        input_names=["x", "y"],
    )  # fmt: skip
    assert '%"x"<FLOAT,[rows,3]>' in str(program)


class Loops(nn.Module):
    """Loops over sizes and numbers, lists, optional inputs, and a cell written in place."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.recurrent = nn.LSTM(3, 4)
        self.register_buffer("total", torch.zeros(3))

    def forward(
        self, x: torch.Tensor, n: int, bias: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        while n > 0:
            x = torch.sigmoid(self.linear(x))
            n -= 1
        if bias is not None:
            x = x + bias
        rows: list[torch.Tensor] = []
        for i in range(x.size(0)):
            rows.append(x[i] * i)
        self.total.add_(x.sum(0))
        y = torch.stack(rows)
        y[0] = self.total
        return y, self.recurrent(y)[0]


def test_torchscript_with_loops_and_lists() -> None:
    x = torch.rand(4, 3)
    script = compiled(torch.jit.script, Loops())
    weights = {name: value.clone() for name, value in script.state_dict().items()}
    program = sardonyx.export(script, (x, 3, torch.ones(3)), do_constant_folding=False)
    assert all(torch.equal(script.state_dict()[name], weights[name]) for name in weights)
    names = {value.name for value in program.model_proto.graph.initializer}
    assert {"linear.weight", "linear.bias", "total"} <= names
    for inputs in ((x, torch.ones(3)), (torch.randn(4, 3), torch.randn(3))):
        got = program(inputs[0], 3, inputs[1])
        want = compiled(torch.jit.script, Loops())
        want.load_state_dict(weights)
        for one, other in zip(got, want(inputs[0], 3, inputs[1]), strict=False):
            torch.testing.assert_close(one, other.detach())


def test_scripted_loops_on_data_stay_loops() -> None:
    class Waits(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            while bool(x.sum() < 10):
                x = x * 2
            return x

    script = compiled(torch.jit.script, Waits())
    program = sardonyx.export(script, (torch.ones(2),))
    for x in (torch.ones(2), torch.ones(2) / 9, torch.ones(2) * 20):
        torch.testing.assert_close(program(x)[0], script(x))


# --- avoiding pitfalls: what tracing makes wrong is right


class Reshapes(nn.Module):
    def __init__(self, item: bool) -> None:
        super().__init__()
        self.item = item

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if self.item:
            return x.reshape(y.item(), -1)
        return x.reshape(y, -1)


@pytest.mark.parametrize("item", [True, False])
def test_sizes_out_of_tensors_stay_variable(item: bool) -> None:
    x = torch.randn(4, 6)
    program = sardonyx.export(Reshapes(item), (x, torch.tensor(3)))
    for rows in (3, 8, 12):
        got = program(x, torch.tensor(rows))[0]
        torch.testing.assert_close(got, x.reshape(rows, -1))


def test_arithmetic_of_sizes() -> None:
    class Model(torch.nn.Module):
        def forward(self, states):
            batch_size, seq_length = states.shape[:2]  # noqa: RUF059 (as on the page)
            real_seq_length = seq_length
            real_seq_length += 2
            return real_seq_length + seq_length

    program = sardonyx.export(
        Model(), (torch.ones(2, 3),), dynamic_shapes=({0: "batch_size", 1: "seq_length"},)
    )
    assert int(program(torch.ones(2, 3))[0]) == 8
    assert int(program(torch.ones(5, 7))[0]) == 16


# --- types


def test_dicts_strings_and_lists() -> None:
    class Model(nn.Module):
        def forward(self, x: dict[str, torch.Tensor], how: str, pair: list[torch.Tensor]) -> Any:
            total = pair[0] + pair[1] if how == "sum" else pair[0]
            return {"foo": x["a"] + total, "bar": [total, (x["b"],)], "baz": how}

    args = ({"a": torch.ones(2), "b": torch.zeros(3)}, "sum", [torch.ones(2), torch.ones(2)])
    program = sardonyx.export(Model(), args)
    assert len(program.input_names) == 4  # a, b and the pair
    got = program(*args)
    want = [torch.full((2,), 3.0), torch.full((2,), 2.0), torch.zeros(3)]
    assert len(got) == 3  # a flat sequence of the values, without the string
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)


def test_numbers_as_inputs() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor, factor: int, shift: float = 0.5) -> torch.Tensor:
            return x * factor + shift

    x = torch.ones(3)
    program = sardonyx.export(Model(), (x, 3), kwargs={"shift": 0.25})
    torch.testing.assert_close(program(x, 3, shift=0.25)[0], torch.full((3,), 3.25))
    with pytest.raises(sardonyx.OnnxExporterError, match="exported for factor=3"):
        program(x, 4, shift=0.25)


# --- indexing: what the page calls unsupported


DATA = torch.arange(60.0).reshape(3, 4, 5)


class Indexing(nn.Module):
    def __init__(self, index: Any, value: torch.Tensor | None) -> None:
        super().__init__()
        self.index, self.value = index, value

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        if self.value is None:
            return data[self.index]
        data = data.clone()
        data[self.index] = self.value
        return data


@pytest.mark.parametrize(
    ("index", "value"),
    [
        ((torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])), None),
        ((torch.tensor([[1, 2], [2, 0]]), torch.tensor([2, 3])), torch.ones(2, 2, 5)),
        ((torch.tensor([2, 0]), slice(None), torch.tensor([1, 2])), torch.ones(2, 4)),
        ((torch.tensor([1, -2]), torch.tensor([-2, 3])), torch.ones(2, 5)),
        ((torch.tensor([[0, 2], [1, 1]]), slice(1, 3)), torch.arange(5.0)),
    ],
    ids=["read", "ranks", "apart", "negative", "broadcast"],
)
def test_indexing(index: Any, value: torch.Tensor | None) -> None:
    assert_exports(Indexing(index, value), (DATA,))


# --- adding operators


def test_the_symbolic_function_of_elu() -> None:
    def elu(g: Any, input: Any, alpha: Any, inplace: bool = False) -> Any:  # noqa: A002
        return g.op("Elu", input, alpha_f=alpha)

    sardonyx.register_custom_op_symbolic("aten::elu", elu, 9)
    try:
        program = sardonyx.export(nn.ELU(0.5), (torch.ones(1),))
    finally:
        sardonyx.unregister_custom_op_symbolic("aten::elu", 9)
    (node,) = program.model_proto.graph.node
    assert node.op_type == "Elu"
    torch.testing.assert_close(program(-torch.ones(1))[0], nn.ELU(0.5)(-torch.ones(1)))


def test_a_symbolic_function_that_cannot_convert() -> None:
    sardonyx.register_custom_op_symbolic("aten::elu", lambda g, *_: None, 9)
    try:
        with pytest.raises(sardonyx.OnnxExporterError, match="returned None"):
            sardonyx.export(nn.ELU(), (torch.ones(1),))
    finally:
        sardonyx.unregister_custom_op_symbolic("aten::elu", 9)


def test_discovering_all_unconvertible_operators() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.aten._foobar(x)

    model, args, opset_version = Model(), (torch.ones(3),), 15

    torch_script_graph, unconvertible_ops = sardonyx.utils.unconvertible_ops(
        model, args, opset_version=opset_version
    )

    print(set(unconvertible_ops))
    assert set(unconvertible_ops) == {"aten::_foobar"}
    assert "_foobar" in str(torch_script_graph)


def test_an_error_names_the_operator() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.aten._foobar(x)

    with pytest.raises(RuntimeError, match="aten::_foobar"):
        sardonyx.export(Model(), (torch.ones(3),))

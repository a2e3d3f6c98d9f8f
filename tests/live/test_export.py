"""What `sardonyx.export` takes."""

from __future__ import annotations

import dataclasses
import inspect
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from onnx.numpy_helper import to_array
from torch import nn
from torch.export import Dim

import sardonyx
from tests.harness import assert_exports


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, y: Any = None, *, scale: Any = None) -> Any:
        z = self.linear(x)
        z = z if y is None else z + y
        return z if scale is None else z * scale


X = torch.randn(2, 4)
Y = torch.randn(2, 3)


def dims(program: sardonyx.ONNXProgram, index: int = 0) -> list[str | int]:
    shape = program.model_proto.graph.input[index].type.tensor_type.shape
    return [d.dim_param or d.dim_value for d in shape.dim]


# --- arguments


def test_a_single_tensor_is_a_tuple_of_one() -> None:
    program = sardonyx.export(Scaled(), X)
    assert program.input_names == ["x"]


def test_keyword_arguments_become_inputs_in_the_order_given() -> None:
    exported = assert_exports(Scaled(), (X,), {"scale": Y, "y": Y}, capture_first=False)
    assert sorted(exported.program.input_names) == ["scale", "x", "y"]
    torch.testing.assert_close(
        exported.program(X, scale=Y, y=2 * Y)[0], exported.program(X, y=2 * Y, scale=Y)[0]
    )


def test_none_and_numbers_are_no_inputs() -> None:
    model = Scaled()
    program = sardonyx.export(model, (X, None), kwargs={"scale": 2.0})
    assert program.input_names == ["x"]
    for inputs in ((X, None), (X,)):
        torch.testing.assert_close(program(*inputs, scale=2.0)[0], model(X) * 2)


def test_the_older_form_of_keyword_arguments() -> None:
    program = sardonyx.export(Scaled(), (X, {"scale": Y}))
    assert program.input_names == ["x", "scale"]


def test_a_dict_that_forward_takes_is_no_keyword_arguments() -> None:
    class TakesDict(nn.Module):
        def forward(self, x: torch.Tensor, more: dict[str, torch.Tensor]) -> torch.Tensor:
            return x + more["k"]

    assert len(sardonyx.export(TakesDict(), (X, {"k": X})).input_names) == 2


@pytest.mark.parametrize(
    "options",
    [{"do_constant_folding": False}, {"custom_opsets": {"a": 1}}, {"dynamic_axes": {"x": [0]}}],
    ids=str,
)
def test_older_options_say_what_to_write_instead(options: dict[str, Any]) -> None:
    with pytest.warns(DeprecationWarning, match=next(iter(options))):
        sardonyx.export(Scaled(), (X,), **options)


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 1)
        self.norm = nn.BatchNorm2d(3)
        self.fc = nn.Parameter(torch.randn(5, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x)).mean((2, 3)) @ (self.fc * 2).T


@pytest.mark.filterwarnings("ignore:do_constant_folding is deprecated")
def test_weights_stay_what_they_are_where_nothing_is_folded() -> None:
    model, x = Normed().eval(), torch.randn(1, 2, 4, 4)
    state = model.state_dict()
    program = sardonyx.export(model, (x,), do_constant_folding=False)
    held = {t.name: to_array(t) for t in program.model_proto.graph.initializer}
    for name, tensor in state.items():
        if name != "norm.num_batches_tracked":
            assert (held[name] == tensor.numpy()).all()
    torch.testing.assert_close(program(x)[0], model(x).detach(), rtol=1e-4, atol=1e-5)
    folded = sardonyx.export(model, (x,))
    assert "BatchNormalization" not in str(folded)
    assert "BatchNormalization" in str(program)


def test_arguments_that_forward_does_not_take() -> None:
    with pytest.raises(sardonyx.UsageError, match="does not take"):
        sardonyx.export(Scaled(), (X,), kwargs={"nothing": X}, dynamic_shapes={"x": {0: "batch"}})


def test_names_of_inputs_and_outputs() -> None:
    program = sardonyx.export(
        Scaled(), (X, Y), input_names=["left", "right"], output_names=["result"]
    )
    assert (program.input_names, program.output_names) == (["left", "right"], ["result"])


def test_names_of_weights_follow_those_of_the_inputs() -> None:
    model, other = Scaled(), Scaled()
    program = sardonyx.export(model, (X,), input_names=["a", "learned_0"])
    assert program.input_names == ["a"]
    held = {t.name for t in program.model_proto.graph.initializer}
    assert held == {"learned_0", "linear.bias"}
    program.apply_weights(other.state_dict())  # still under the module's names
    torch.testing.assert_close(program(X)[0], other(X).detach())
    with pytest.raises(sardonyx.UsageError, match="a name of its own"):
        sardonyx.export(model, (X,), input_names=["a", "a"])
    with pytest.raises(sardonyx.UsageError, match="a string"):
        sardonyx.export(model, (X,), input_names="a")


def test_numbers_take_the_names_that_are_given_for_them() -> None:
    class Times(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scaled = Scaled()

        def forward(self, k: int, x: torch.Tensor) -> torch.Tensor:
            product: torch.Tensor = self.scaled(x)
            return product * k

    for names in (["k", "a"], ["k", "a", "learned_0"], ["a"]):
        program = sardonyx.export(Times(), (1, X), input_names=names)
        assert program.input_names == ["a"]
        held = {t.name for t in program.model_proto.graph.initializer}
        assert ("learned_0" in held) == ("learned_0" in names)


def test_too_many_names() -> None:
    with pytest.raises(sardonyx.UsageError) as failure:
        sardonyx.export(Scaled(), (X,), input_names=["a", "b", "c", "d"])
    assert [d.code for d in failure.value.diagnostics] == ["SX1001"]


@pytest.mark.parametrize("opset", [13, 18, 23])
def test_opsets(opset: int) -> None:
    program = sardonyx.export(Scaled(), (X,), opset_version=opset)
    assert program.opset_version == opset
    assert program.model_proto.opset_import[0].version == opset


@pytest.mark.parametrize(
    "options",
    [{"opset_version": 12}, {"opset_version": 99}, {"target_runtime": "abacus"}],
    ids=str,
)
def test_options_that_cannot_be_meant(options: dict[str, Any]) -> None:
    with pytest.raises(sardonyx.UsageError):
        sardonyx.export(Scaled(), (X,), **options)


def test_targets() -> None:
    from sardonyx import _native

    names = _native.target_names()
    assert names[0] == "onnxruntime"
    assert "standard" in names
    for name in names:
        assert sardonyx.export(Scaled(), (X,), target_runtime=name).node_count > 0
    listed = ", ".join(map(repr, names[:-1])) + f" or {names[-1]!r}"
    with pytest.raises(sardonyx.UsageError, match=f"'abacus' is not {listed}"):
        sardonyx.export(Scaled(), (X,), target_runtime="abacus")


def test_options_are_one_record() -> None:
    from sardonyx._export.options import ConversionOptions, Options

    for function, record, inputs in (
        (sardonyx.export, Options, 3),  # model, args, f
        (sardonyx.convert, ConversionOptions, 1),
    ):
        parameters = list(inspect.signature(function).parameters)
        assert [field.name for field in dataclasses.fields(record)] == parameters[inputs:]


# --- dynamic dimensions


class Rows(torch.nn.Module):
    """Joins axes, so that nothing says that those of x and y are alike one by one."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.flatten(0, 1) + y.flatten(0, 1)


def test_sizes_of_one_name_have_just_that_name() -> None:
    x = torch.randn(2, 3, 4)
    dims = {0: "batch", 1: "length"}
    program = sardonyx.export(Rows(), (x, x.clone()), dynamic_shapes={"x": dims, "y": dims})
    assert [shape for _, _, shape in program._model.inputs] == [["batch", "length", 4]] * 2
    torch.testing.assert_close(program(*(torch.ones(5, 2, 4),) * 2)[0], torch.full((10, 4), 2.0))


@pytest.mark.parametrize(
    "shapes",
    [
        {"x": {0: "batch"}, "y": {0: "batch"}},
        {"x": {0: Dim("batch")}, "y": {0: Dim("batch")}},
        ({0: "batch"}, {0: "batch"}),
        {"x": ["batch", None], "y": ("batch", None)},
    ],
    ids=["strings", "dims", "by position", "sequences"],
)
def test_dynamic_shapes(shapes: Any) -> None:
    exported = assert_exports(
        Scaled(),
        (X, Y),
        None,
        shapes,
        [(torch.randn(5, 4), torch.randn(5, 3)), (torch.randn(1, 4), torch.randn(1, 3))],
        capture_first=False,
    )
    assert dims(exported.program, 0) == ["batch", 4]
    assert dims(exported.program, 1) == ["batch", 3]


class Joined(nn.Module):
    def forward(self, first: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        return torch.cat([first, *rest]).relu()


@pytest.mark.parametrize(
    ("count", "shapes"),
    [
        (2, [{0: "a"}, {0: "b"}]),
        (2, [{0: "a"}, ({0: "b"},)]),
        (2, [{0: "a"}, {0: {0: "b"}}]),
        (3, [{0: "a"}, {0: "b"}, {0: "c"}]),
        (3, [{0: "a"}, ({0: "b"}, {0: "c"})]),
    ],
)
def test_dynamic_shapes_of_what_a_starred_parameter_takes(count: int, shapes: Any) -> None:
    program = sardonyx.export(Joined(), (X,) * count, dynamic_shapes=shapes)
    assert [dims(program, i)[0] for i in range(count)] == ["a", "b", "c"][:count]
    others = [torch.randn(rows, 4) for rows in (3, 1, 5)][:count]
    torch.testing.assert_close(program(*others)[0], Joined()(*others))


def test_every_dimension_that_the_model_lets_vary() -> None:
    program = sardonyx.export(Scaled(), (X, Y), dynamic_shapes="auto")
    (rows, fixed), (others, free) = dims(program, 0), dims(program, 1)
    assert rows == others
    assert isinstance(rows, str)
    assert isinstance(free, str) or free == 3
    assert fixed == 4
    assert [note.code for note in program.notes].count("SX1012") >= 1


@pytest.mark.parametrize("axes", [{"in": {0: "rows"}}, {"x": {0: "rows"}}, {"in": [0]}], ids=str)
def test_dynamic_axes(axes: Any) -> None:
    program = sardonyx.export(
        Scaled(),
        (X,),
        input_names=["in"] if "in" in axes else None,
        dynamic_axes={**axes, "out": {0: "rows"}},
        output_names=["out"],
    )
    assert dims(program) == ["in_dim_0" if isinstance(axes.get("in"), list) else "rows", 4]
    assert program(torch.randn(7, 4))[0].shape == (7, 3)


def test_dynamic_axes_of_nothing() -> None:
    with pytest.raises(sardonyx.UsageError, match="'z'"):
        sardonyx.export(Scaled(), (X,), dynamic_axes={"z": {0: "rows"}})


def test_dynamic_shapes_of_nothing() -> None:
    with pytest.raises(sardonyx.UsageError, match="'z'"):
        sardonyx.export(Scaled(), (X,), dynamic_shapes={"z": {0: "rows"}})


def test_an_example_of_size_one_stays_dynamic() -> None:
    program = sardonyx.export(Scaled(), (X[:1],), dynamic_shapes={"x": {0: "batch"}})
    assert dims(program) == ["batch", 4]
    assert program(torch.randn(6, 4))[0].shape == (6, 3)


class Energy(nn.Module):
    def __init__(self, take: Callable[..., Any]) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        self.take = take

    def forward(self, x: torch.Tensor) -> Any:
        return self.take(self.layers, x)


def force(layers: nn.Module, x: torch.Tensor) -> Any:
    with torch.enable_grad():
        x.requires_grad_(True)
        energy = layers(x).sum()
        (slope,) = torch.autograd.grad(energy, x, create_graph=True)
    return energy.detach(), -slope.detach()


@pytest.mark.parametrize(
    "take",
    [
        force,
        lambda layers, x: torch.func.grad(lambda v: layers(v).sum())(x),
        lambda layers, x: torch.func.grad(lambda v: (v**3).sum())(x) + layers(x),
        lambda layers, x: torch.func.jacrev(layers)(x),
        lambda layers, x: torch.func.jvp(layers, (x,), (torch.ones_like(x),)),
        lambda layers, x: torch.func.hessian(lambda v: layers(v).sum())(x),
        lambda layers, x: torch.vmap(torch.func.grad(lambda v: layers(v).sum()))(x),
    ],
)
def test_models_that_take_derivatives(take: Callable[..., Any]) -> None:
    model = Energy(take)
    program = sardonyx.export(model, (torch.randn(4, 3),))
    x = torch.randn(4, 3)
    want = model(x.clone())
    want = want if isinstance(want, tuple) else (want,)
    for got, expected in zip(program(x), want, strict=True):
        torch.testing.assert_close(got, expected.detach())


def test_a_program_that_lacks_derivatives_is_refused() -> None:
    model = Energy(lambda layers, x: layers(x) + torch.func.grad(lambda v: (v**3).sum())(x))
    program = torch.export.export(model, (torch.randn(4, 3),))
    with pytest.raises(sardonyx.UsageError, match="lacks derivatives"):
        sardonyx.export(program)


def test_a_dimension_that_the_model_makes_constant_is_warned_of() -> None:
    class Fixed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.stack([row * i for i, row in enumerate(x)])

    with pytest.warns(UserWarning, match="dimension 0 of input 'x'.*'rows'.*makes it 2"):
        program = sardonyx.export(Fixed(), (X,), dynamic_shapes={"x": {0: "rows", 1: "width"}})
    assert dims(program) == [2, "width"]
    assert "SX1008" in [note.code for note in program.notes]


def test_names_for_an_exported_program() -> None:
    exported = torch.export.export(Scaled(), (X,), dynamic_shapes={"x": {0: Dim.DYNAMIC}})
    assert dims(sardonyx.export(exported)) != ["rows", 4]
    assert dims(sardonyx.export(exported, dynamic_shapes={"x": {0: "rows"}})) == ["rows", 4]


def test_nested_inputs_and_outputs() -> None:
    class Nested(nn.Module):
        def forward(self, pair: Any, more: Any) -> Any:
            return {"sum": pair[0] + more["k"], "both": [pair[1], pair[0] * 2]}

    inputs = ((torch.randn(2), torch.randn(3)), {"k": torch.randn(2)})
    shapes = {"pair": ({0: "n"}, {0: "m"}), "more": {"k": {0: "n"}}}
    others = [((torch.randn(5), torch.randn(4)), {"k": torch.randn(5)})]
    exported = assert_exports(Nested(), inputs, None, shapes, others, capture_first=False)
    assert dims(exported.program, 0) == ["n"]
    assert dims(exported.program, 1) == ["m"]


def test_an_integer_as_input() -> None:
    class Repeated(nn.Module):
        def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
            return x.repeat(n, 1)

    program = sardonyx.export(Repeated(), (X, 3), dynamic_shapes={"x": None, "n": Dim.DYNAMIC})
    torch.testing.assert_close(program(X, 5)[0], X.repeat(5, 1))


# --- recurrent networks, whose sequences torch.export makes constant


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_sequences_of_recurrent_networks_stay_dynamic(kind: Any) -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = kind(4, 5, num_layers=2, bidirectional=True, batch_first=True)

        def forward(self, x: torch.Tensor) -> Any:
            return self.net(x)[0]

    from sardonyx._capture.capture import capture
    from sardonyx._capture.shapes.dynamic_shapes import prepare

    model, args = Recurrent(), (torch.randn(2, 7, 4),)
    dynamic = prepare(model, args, {}, {"x": {0: "batch", 1: "sequence"}})
    captured = capture(model, args, {}, dynamic, report=print).program
    assert "aten.mm" not in str(captured.graph)
    symbols = {
        str(size)
        for node in captured.graph.nodes
        if node.name == "x"
        for size in node.meta["val"].shape
    }
    assert len(symbols - {"2", "7", "4"}) == 2
    # Outside of capture, PyTorch's own kernels are back.
    torch.export.export(model, args)


# --- capture


def test_capture_is_an_onnx_export() -> None:
    class Asks(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1 if sardonyx.is_in_onnx_export() and torch.onnx.is_in_onnx_export() else x

    assert not sardonyx.is_in_onnx_export()
    torch.testing.assert_close(sardonyx.export(Asks(), (X,))(X)[0], X + 1)
    assert not torch.onnx.is_in_onnx_export()


def test_a_failed_capture_reports_one_cause_and_its_line() -> None:
    class Hopeless(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if sardonyx.is_in_onnx_export():
                raise ValueError("no way")
            return x

    with pytest.raises(sardonyx.CaptureError) as failure:
        sardonyx.export(Hopeless(), (X,))
    found = failure.value.diagnostics[0]
    assert found.code == "SX1003"
    assert Path(found.file) == Path(__file__)
    assert found.function == "forward"
    assert str(failure.value).count("no way") == 2  # the message, and the line of code
    assert "strategies were tried" in str(failure.value)


def test_verbose_reports_what_each_strategy_said(capsys: pytest.CaptureFixture[str]) -> None:
    class Hopeless(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("no way")

    with pytest.raises(sardonyx.CaptureError):
        sardonyx.export(Hopeless(), (X,), verbose=True)
    assert capsys.readouterr().err.count("reported:\nValueError: no way") >= 3


def test_steps_are_logged(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, logger="sardonyx"):
        sardonyx.export(nn.Linear(4, 3), (X,))
    assert [record for record in caplog.records if " ms" in record.getMessage()]
    assert not capsys.readouterr().err


def test_arguments_that_do_not_fit_forward() -> None:
    with pytest.raises(sardonyx.UsageError, match=r"do not fit Linear\.forward.*'input'") as error:
        sardonyx.export(nn.Linear(3, 4))
    assert "sardonyx.export(model, (input,))" in error.value.diagnostics[0].help


def test_errors_name_the_public_module() -> None:
    assert sardonyx.CaptureError.__module__ == "sardonyx.errors"
    assert sardonyx.errors.CaptureError is sardonyx.CaptureError


def test_a_diagnostic_reads_as_it_is_printed() -> None:
    found = sardonyx.Diagnostic(
        "SX1301", "no kernel", help="another way", op="aten::x", file="a.py", line=3, function="f"
    )
    assert str(found).splitlines() == [
        "error[SX1301]: no kernel",
        "  operator: aten::x",
        "  --> a.py:3, in f",
        "  help: another way",
    ]


def test_unsupported_operators_are_all_named_with_their_lines() -> None:
    @torch.library.custom_op("sardonyx_tests::first", mutates_args=())
    def first(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @torch.library.custom_op("sardonyx_tests::second", mutates_args=())
    def second(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    first.register_fake(torch.empty_like)
    second.register_fake(torch.empty_like)

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return second(first(x))

    with pytest.raises(sardonyx.UnsupportedOperatorError) as failure:
        sardonyx.export(Model(), (X,))
    found = failure.value.diagnostics
    assert {d.op for d in found} == {"sardonyx_tests::first", "sardonyx_tests::second"}
    assert all(Path(d.file) == Path(__file__) and d.line > 0 for d in found)


def test_operators_without_a_translation_are_taken_apart() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return torch.ops.aten.block_diag([x, x]), x.relu()

    program = sardonyx.export(Model(), (X,))
    torch.testing.assert_close(program(X)[0], torch.block_diag(X, X))
    assert program.output_names[0] == "block_diag"
    assert all(note.severity == "note" for note in program.notes)


def test_a_module_with_inputs_of_its_own() -> None:
    class Doubled(sardonyx.ExportableModule):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        def example_arguments(self) -> Any:
            return (X,), None

        def dynamic_shapes(self) -> Any:
            return ({0: "batch"},)

        def input_names(self) -> Any:
            return ["rows"]

    for program in (Doubled().to_onnx(), sardonyx.export(Doubled())):
        assert program.input_names == ["rows"]
        assert dims(program) == ["batch", 4]
        torch.testing.assert_close(program(torch.ones(5, 4))[0], torch.full((5, 4), 2.0))
    # Inputs that are given count, and nothing that the module says of its own.
    assert dims(sardonyx.export(Doubled(), (X,))) == [2, 4]

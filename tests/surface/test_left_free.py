"""Dynamic dimensions and data-dependent values stay dynamic, or a diagnostic reports them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx

X = torch.randn(3, 4)
ONES = torch.ones(3, 4)


def line_of(function: Any, code: str) -> int:
    """Where a piece of code stands in this file."""
    function = getattr(function, "forward", function)
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if code in line)


def told(found: Any) -> list[tuple[str, str, str, int]]:
    return [(d.code, d.severity, d.file, d.line) for d in found]


# --- dimensions


class Unrolled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.shape[0]
        for _ in range(rows):
            x = torch.cat([x, x])  # no Loop: what it carries has another size each time
        return x


class Reshaped(nn.Module):
    def forward(self, pair: Any) -> torch.Tensor:
        return pair["a"].reshape(3, 2, 2) + 1


class Helped(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return stacked(x + 1)


def stacked(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([row * i for i, row in enumerate(x)])


class Counted(nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        for _ in range(n):
            x = torch.cat([x, x])
        return x


class Case(NamedTuple):
    """A model, its inputs, dynamic_shapes that say something of one dimension, how that is called,
    what it is made, and where."""

    model: Any
    args: Any
    shapes: Callable[[Any], Any]
    what: str
    size: int
    code: str

    @property
    def line(self) -> int:
        return line_of(stacked if self.model is Helped else self.model, self.code)


CASES = [
    Case(Unrolled, (X,), lambda d: {"x": {0: d}}, "dimension 0 of input 'x'", 3, "in range(rows)"),
    Case(
        Reshaped,
        ({"a": X},),
        lambda d: {"pair": {"a": {0: d}}},
        "dimension 0 of input 'pair_a'",
        3,
        "reshape(3",
    ),
    Case(Helped, (X,), lambda d: {"x": {0: d}}, "dimension 0 of input 'x'", 3, "for i, row"),
    Case(Counted, (X, 5), lambda d: {"x": None, "n": d}, "input 'n'", 5, "in range(n)"),
]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.model.__name__)


@pytest.mark.parametrize(
    "case, dim",
    [(case, Dim.DYNAMIC) for case in CASES]
    # torch.export has no named integers.
    + [(case, Dim("size")) for case in CASES if case.model is not Counted],
    ids=lambda value: value.model.__name__ if isinstance(value, Case) else "",
)
def test_a_dimension_that_must_vary_is_refused(case: Case, dim: Any) -> None:
    message = rf"{case.what} is declared dynamic.*makes it {case.size}"
    with pytest.raises(sardonyx.CaptureError, match=message) as caught:
        sardonyx.export(case.model(), case.args, dynamic_shapes=case.shapes(dim))
    assert told(caught.value.diagnostics) == [("SX1011", "error", __file__, case.line)]
    assert "Dim.AUTO" in caught.value.diagnostics[0].help


@cases
def test_a_dimension_that_should_vary_is_warned_of(case: Case) -> None:
    message = rf"{case.what}.*'size'.*makes it {case.size}, at .*{__file__}"
    with pytest.warns(UserWarning, match=message):
        program = sardonyx.export(case.model(), case.args, dynamic_shapes=case.shapes("size"))
    assert told(program.notes) == [("SX1008", "warning", __file__, case.line)]


@cases
def test_a_dimension_that_may_vary_is_warned_of(case: Case) -> None:
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="the model's own code makes it"):
        program = sardonyx.export(case.model(), case.args, dynamic_shapes=case.shapes(Dim.AUTO))
    assert told(program.notes) == [("SX1012", "warning", __file__, case.line)]
    assert case.what in program.notes[0].message


def test_what_varies_is_not_told() -> None:
    for dim in (Dim.DYNAMIC, Dim("size"), Dim.AUTO, "size"):
        program = sardonyx.export(nn.ReLU(), (X,), dynamic_shapes=({0: dim, 1: Dim.STATIC},))
        assert program.notes == ()


def test_of_several_dimensions_those_that_are_constant_are_refused() -> None:
    class Both(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x.sum(1)
            for _ in range(x.shape[0]):
                y = torch.cat([y, y])
            for _ in range(x.shape[2]):
                y = torch.cat([y, y])
            return y

    shapes = {"x": dict.fromkeys(range(3), Dim.DYNAMIC)}
    with pytest.raises(sardonyx.CaptureError) as caught:
        sardonyx.export(Both(), (torch.randn(2, 3, 4),), dynamic_shapes=shapes)
    assert [d.message.partition(" is declared")[0] for d in caught.value.diagnostics] == [
        "dimension 0 of input 'x'",
        "dimension 2 of input 'x'",
    ]


# --- dimensions of one name


class Apart(nn.Module):
    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> Any:
        return ids + 1, mask * 2


@pytest.mark.parametrize(
    "options",
    [
        {"dynamic_shapes": {"ids": {0: "batch"}, "mask": {0: "batch"}}},
        {"dynamic_shapes": {"ids": {0: Dim("batch")}, "mask": {0: Dim("batch")}}},
        pytest.param(
            {"dynamic_axes": {"ids": {0: "batch"}, "mask": {0: "batch"}}},
            marks=pytest.mark.filterwarnings("ignore:dynamic_axes is deprecated"),
        ),
    ],
    ids=["strings", "dims", "axes"],
)
def test_dimensions_of_one_name_are_one(options: Any) -> None:
    program = sardonyx.export(Apart(), (X, torch.randn(3, 2)), **options)
    proto = program.model_proto.graph
    found = [v.type.tensor_type.shape.dim[0].dim_param for v in (*proto.input, *proto.output)]
    assert found == ["batch"] * 4
    assert [o.shape[0] for o in program(torch.randn(7, 4), torch.randn(7, 2))] == [7, 7]


def test_dimensions_of_one_name_in_an_exported_program() -> None:
    hints = {"ids": {0: Dim.DYNAMIC}, "mask": {0: Dim.DYNAMIC}}
    exported = torch.export.export(Apart(), (X, torch.randn(3, 2)), dynamic_shapes=hints)
    before = str(exported)
    names = {"ids": {0: "batch"}, "mask": {0: "batch"}}
    text = str(sardonyx.export(exported, dynamic_shapes=names))
    assert "[batch,4]" in text
    assert "[batch,2]" in text
    assert "batch_1" not in text
    inputs = exported.graph.find_nodes(op="placeholder")
    named = {str(node.meta["val"].shape[0]): "batch" for node in inputs}
    assert len(named) == 2
    assert "batch_1" not in str(sardonyx.convert(exported, dim_names=named))
    assert str(exported) == before
    assert "batch,4" in str(sardonyx.export(exported, dynamic_shapes={**names, "mask": {0: "n"}}))


def test_dimensions_of_one_name_agree_in_the_example() -> None:
    message = "dimension 0 of ids and dimension 1 of mask are both called 'n'.* 3 and 2 there"
    shapes = {"ids": {0: "n"}, "mask": {1: "n"}}
    with pytest.raises(sardonyx.UsageError, match=message) as caught:
        sardonyx.export(Apart(), (X, torch.randn(3, 2)), dynamic_shapes=shapes)
    assert [d.code for d in caught.value.diagnostics] == ["SX1001"]


# --- data-dependent values


class Loop(nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        for _ in range(int(n)):
            x = x * 2
        return x


class Waits(nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        while n > 0:
            x, n = x * 2, n - 1
        return x


def scripted_while(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    while bool(n > 0):
        x = x * 2
        n = n - 1
    return x


def scripted_for(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    for _ in range(int(n)):
        x = x * 2
    return x


def scripted_branch(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > n):  # noqa: SIM108 (TorchScript makes a branch of it)
        y = x * 2
    else:
        y = x - 1
    return y


def scripted_sizes(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        total = total + x[i] * n
    return total


class Calls(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.function = torch.jit.script(function)

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return self.function(x, n) + 1


older = pytest.mark.filterwarnings("ignore:dynamo is deprecated", "ignore::torch.jit.TracerWarning")


@older
@pytest.mark.parametrize(
    "model, args, code",
    [
        (Loop, (ONES, torch.tensor(3)), "in range"),
        (Waits, (ONES, torch.tensor(3)), "while n"),
    ],
)
def test_what_data_decide_in_python_is_warned_of(model: Any, args: Any, code: str) -> None:
    with pytest.warns(UserWarning, match="decide here.*" + code):
        program = sardonyx.export(model(), args, dynamo=False)
    assert told(program.notes) == [("SX1013", "warning", __file__, line_of(model, code))]
    with pytest.raises(sardonyx.CaptureError):
        sardonyx.export(model(), args)


@older
@pytest.mark.parametrize("options", [{"dynamo": False}, {"capture": "trace"}, {}], ids=str)
@pytest.mark.parametrize("function", [scripted_while, scripted_for])
def test_a_scripted_loop_on_data_is_kept(function: Any, options: Any) -> None:
    model = Calls(function)
    program = sardonyx.export(model, (ONES, torch.tensor(3)), **options)
    assert program.notes == ()
    for times in (3, 0, 5):
        inputs = ONES, torch.tensor(times)
        torch.testing.assert_close(program(*inputs)[0], model(*inputs))


@pytest.mark.parametrize(
    ("capture", "reason"),
    [
        ("torch", "Could not extract specialized integer"),
        ("quick", "fake-tensor tracing declines .* data-dependent"),
    ],
)
def test_a_scripted_loop_on_data_is_refused_by_torch_export(capture: str, reason: str) -> None:
    with pytest.raises(sardonyx.CaptureError, match=reason):
        sardonyx.export(Calls(scripted_for), (ONES, torch.tensor(3)), capture=capture)


def scripted_number(x: torch.Tensor) -> torch.Tensor:
    k = int(x.sum().item())
    return x * (k + 1)


def scripted_branch_on_a_number(x: torch.Tensor) -> torch.Tensor:
    k = int(x.sum().item())
    if k > 1000:
        x = x * 2
    return x


@pytest.mark.parametrize("function", [scripted_number, scripted_branch_on_a_number])
def test_integers_that_a_scripted_function_makes_of_data_vary(function: Any) -> None:
    script = Calls(function).function
    program = sardonyx.export(script, (ONES,))
    for x in (ONES, X, ONES * 500):
        torch.testing.assert_close(program(x)[0], script(x))


def scripted_index(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    k = int(n)
    return x[:k] * k


def test_numbers_of_data_that_the_program_keeps_are_taken() -> None:
    script = Calls(scripted_index).function
    program = sardonyx.export(script, (ONES, torch.tensor(1)))
    for inputs in ((ONES, torch.tensor(1)), (torch.randn(3, 4), torch.tensor(2))):
        torch.testing.assert_close(program(*inputs)[0], script(*inputs))


def test_a_scripted_loop_on_data_is_kept_where_the_script_is_the_model() -> None:
    script = Calls(scripted_while).function
    program = sardonyx.export(script, (ONES, torch.tensor(3)))
    for times in (3, 0, 5):
        inputs = ONES, torch.tensor(times)
        torch.testing.assert_close(program(*inputs)[0], script(*inputs))


class Inner(nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        while bool(n > 0):
            x = x * 2
            n = n - 1
        return x


@older
def test_a_scripted_module_is_as_a_scripted_function() -> None:
    model = Calls(Inner())
    program = sardonyx.export(model, (ONES, torch.tensor(3)), dynamo=False)
    inputs = ONES, torch.tensor(4)
    torch.testing.assert_close(program(*inputs)[0], model(*inputs))


@older
def test_a_scripted_branch_on_data_is_kept() -> None:
    model = Calls(scripted_branch)
    program = sardonyx.export(model, (ONES, torch.tensor(3)), dynamo=False)
    assert {note.code for note in program.notes} == {"SX1018"}
    for inputs in ((ONES, torch.tensor(3)), (-ONES, torch.tensor(3)), (ONES, torch.tensor(20))):
        torch.testing.assert_close(program(*inputs)[0], model(*inputs))


@older
@pytest.mark.parametrize("dim", [Dim.DYNAMIC, "rows"], ids=str)
def test_a_scripted_loop_on_sizes_is_kept(dim: Any) -> None:
    model, args = Calls(scripted_sizes), (ONES, torch.tensor(3))
    assert sardonyx.export(model, args, dynamo=False).notes == ()
    program = sardonyx.export(model, args, dynamo=False, dynamic_shapes={"x": {0: dim}, "n": None})
    assert program.notes == ()
    for rows in (3, 1, 6):
        inputs = torch.randn(rows, 4), torch.tensor(2)
        torch.testing.assert_close(program(*inputs)[0], model(*inputs))


class Summed(nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return x * 2, x + y


@pytest.mark.parametrize(("capture", "dim"), [("quick", str), ("torch", Dim)])
def test_a_dimension_equal_to_one_of_another_name_is_warned_of(capture: Any, dim: Any) -> None:
    inputs = (torch.ones(4, 3), torch.ones(4, 3))
    shapes: Any = ({0: dim("rows")}, {0: dim("others")})
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=r"'others'.*equal to 'rows'"):
        sardonyx.export(Summed(), inputs, dynamic_shapes=shapes, capture=capture)


def test_a_dimension_that_draft_export_makes_constant_is_refused() -> None:
    library = torch.library.Library("sardonyx_draft", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")

    class Bare(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return torch.ops.sardonyx_draft.twice(x), y + torch.ones(4, 3)

    inputs = (torch.ones(4, 3), torch.ones(4, 3))
    shapes: Any = ({0: Dim("rows")}, {0: Dim("others")})
    with pytest.raises(sardonyx.errors.CaptureError, match=r"'others'.*makes it 4"):
        sardonyx.export(Bare(), inputs, dynamic_shapes=shapes)

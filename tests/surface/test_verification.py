"""sardonyx.verification: whole models, values one by one, and the part that is at fault."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnxruntime as ort
import pytest
import torch

import sardonyx
from sardonyx import verification
from sardonyx.verification import (
    Comparison,
    GraphInfo,
    OnnxBackend,
    VerificationInfo,
    VerificationOptions,
    find_mismatch,
    save_node_data_from_verification_info,
    verify,
    verify_onnx_program,
)
from tests.harness.rotation import long_test


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(6, 6)
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x, scale=None):
        self.steps += 1
        a, b = self.fc(x).chunk(2, dim=-1)
        y = torch.exp(a) * b
        return y if scale is None else y * scale, (a > 0), self.steps


X = torch.randn(4, 6)


def test_outputs_are_compared() -> None:
    program = sardonyx.export(Net(), (X,))
    infos = verify_onnx_program(program)
    assert [info.name for info in infos] == program.output_names[:3]
    assert all(isinstance(info, VerificationInfo) for info in infos)
    assert all(info.max_abs_diff < 1e-4 for info in infos)
    verify_onnx_program(program, (torch.randn(4, 6),))


def test_every_value_that_both_have_is_compared() -> None:
    program = sardonyx.export(Net(), (X,), optimize=False)
    infos = verify_onnx_program(program, compare_intermediates=True)
    names = [info.name for info in infos]
    assert {"linear", "exp"} <= set(names)
    assert set(program.output_names) <= set(names)
    assert all(info.max_abs_diff < 1e-4 for info in infos)
    assert len(infos) >= 6


class Tagger(torch.nn.Module):
    """Nobody reads the second state."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(6, 4, num_layers=2, bidirectional=True, batch_first=True)
        self.out = torch.nn.Linear(8, 3)

    def forward(self, x):
        made, (state, _) = self.lstm(x)
        return self.out(made), state


def test_no_value_has_the_name_of_one_that_nobody_reads() -> None:
    program = sardonyx.export(Tagger(), (torch.randn(2, 5, 6),))
    infos = verify_onnx_program(program, compare_intermediates=True)
    assert infos.first_mismatch is None
    assert infos.compared == infos.total - 1
    assert infos.missing == ["getitem_2"]


class Deep(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(100)])

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x).tanh()
        return x


def test_parts_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = ort.InferenceSession

    def counted(model: Any, *args: Any, **kwargs: Any) -> Any:
        session = real(model, *args, **kwargs)
        sizes.append(len(session.get_outputs()))
        return session

    monkeypatch.setattr(ort, "InferenceSession", counted)
    model = Deep()
    program = sardonyx.export(model, (torch.randn(2, 4),))
    infos = verify_onnx_program(program, compare_intermediates=True)
    assert len(infos) > 250
    assert len(sizes) > 4  # several sessions, none with all values
    assert max(sizes) < 100


_MEMORY = """
import resource, torch, sardonyx
from sardonyx.verification import verify_onnx_program

class Long(torch.nn.Module):
    def forward(self, x):
        for _ in range(100):
            x = x.sigmoid()
        return x

x = torch.rand(1024, 2048)  # 8 MiB
program = sardonyx.export(Long(), (x,), dynamic_shapes=({0: "n"},))
program(x)
program.release()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert len(verify_onnx_program(program, (x,), compare_intermediates=True)) == 100
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@long_test(3)
def test_memory_does_not_grow_with_the_values_compared() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _MEMORY], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) < 600  # MiB; both sides of all values are 1600


def test_a_wrong_value_shows_where_it_arises() -> None:
    program = sardonyx.export(Net(), (X,), optimize=False)
    for node in program.model.graph:
        if node.op_type == "Exp":
            node.op_type = "Tanh"
    infos = {i.name: i for i in verify_onnx_program(program, compare_intermediates=True)}
    assert infos["linear"].max_abs_diff < 1e-5
    assert infos["exp"].max_abs_diff > 1e-3


class Hidden(torch.nn.Module):
    """Under no_grad and through views; exp is fused with nothing and shows only by its sign."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(2, 3, 1)
        self.norm = torch.nn.BatchNorm1d(3)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        with torch.no_grad():
            scale = (x.mean() * 2).cos()
        y = self.norm(self.conv(x)) * scale
        y[:, 0] += 1
        self.seen.add_(y.mean((0, 2)))
        return y.exp() > 0.5, torch.nn.functional.dropout(y, 0.5, False).reshape(-1)


IMAGES = torch.randn(2, 2, 5)


@pytest.mark.parametrize("optimize", [True, False])
def test_no_value_of_the_program_is_passed_over(optimize: bool) -> None:
    program = sardonyx.export(Hidden().eval(), (IMAGES,), optimize=optimize)
    infos = verify_onnx_program(program, compare_intermediates=True)
    assert isinstance(infos, Comparison)
    # Of these the model reads the elements only behind the write, or as what they are views of.
    assert set(infos.missing) <= {"select", "select_1", "copy_", "slice_1", "dropout"}
    assert infos.compared == infos.total - len(infos.missing) >= 12
    assert infos.first_mismatch is None, str(infos)
    names = [info.name for info in infos]
    kinds = [info.operator for info in infos]
    # In the order of the program: under no_grad, before what is written to it, and folded away.
    assert kinds.index("aten::cos") < kinds.index("aten::batch_norm") < kinds.index("aten::exp")
    assert set(program.output_names) <= set(names)
    assert all(info.location.startswith(__file__) for info in infos if info.operator)
    assert {info.module_path for info in infos} >= {"conv", "norm"}
    fused = {info.operator for info in infos if not info.in_model}
    assert ("aten::conv1d" in fused) == optimize
    assert str(infos).startswith(f"{infos.compared} of the program's {infos.total} values")


def test_the_first_value_that_differs_is_named_with_its_line() -> None:
    program = sardonyx.export(Net(), (X,))
    for node in program.model.graph:
        if node.op_type == "Exp":
            node.op_type = "Tanh"
    infos = verify_onnx_program(program, compare_intermediates=True)
    first = infos.first_mismatch
    assert first is not None
    assert first.operator == "aten::exp"
    line = Net.forward.__code__.co_firstlineno + 3
    assert f"first to differ: 'exp' of aten::exp at {__file__}:{line}" in str(infos)


class Chosen(torch.nn.Module):
    def forward(self, x):
        places = torch.topk(x, 3).indices
        return torch.gather(x + torch.arange(6.0), 1, places), x.argmax()


def _with_the_last_of_equal_numbers(program: sardonyx.ONNXProgram) -> None:
    """As a runtime may choose: another of the equal numbers."""
    import onnx_ir

    for node in list(program.model.graph):
        if node.op_type == "ArgMax":
            node.attributes["select_last_index"] = onnx_ir.AttrInt64("select_last_index", 1)


class Repeated(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        for _ in range(int(n)):
            x = x * 2
        return x


def test_torchscript_is_compared_with_itself_where_torch_export_cannot_take_it() -> None:
    program = sardonyx.export(torch.jit.script(Repeated()), (torch.ones(2, 3), torch.tensor(3)))
    for turns in (0, 3, 5):
        (found,) = verify_onnx_program(program, (torch.ones(2, 3), torch.tensor(turns)))
        assert found.max_abs_diff == 0
    (given,) = verify_onnx_program(program)
    assert given.max_abs_diff == 0


def test_ties_are_no_differences() -> None:
    equal = torch.zeros(2, 6)
    program = sardonyx.export(Chosen(), (equal,), optimize=False)
    _with_the_last_of_equal_numbers(program)
    infos = verify_onnx_program(program, compare_intermediates=True)
    assert "aten::argmax" in {info.operator for info in infos.ties}
    assert all(info.operator in ("aten::argmax", "aten::topk") for info in infos.ties)
    assert infos.first_mismatch is None, str(infos)
    assert "equal numbers competed" in str(infos)


def test_programs_that_cannot_be_verified() -> None:
    program = sardonyx.export(Net(), (X,))
    program.exported_program = None
    with pytest.raises(ValueError, match="does not contain an exported_program"):
        verify_onnx_program(program)


def test_differences_are_those_of_the_values() -> None:
    info = VerificationInfo.from_tensors(
        "v",
        torch.tensor([1.0, 2.0, math.nan, math.inf]),
        torch.tensor([1.0, 2.5, math.nan, math.inf]),
    )
    assert info.max_abs_diff == 0.5
    assert info.max_rel_diff == pytest.approx(0.25, rel=1e-3)
    assert int(info.abs_diff_hist[0].sum()) == 4
    assert json.dumps(info.asdict())
    wrong = VerificationInfo.from_tensors("v", torch.tensor([math.nan]), torch.tensor([1.0]))
    assert wrong.max_abs_diff == math.inf
    empty = VerificationInfo.from_tensors("v", torch.zeros(0), torch.zeros(0))
    assert empty.max_abs_diff == 0.0
    number = VerificationInfo.from_tensors("v", 3, 4)
    assert number.max_abs_diff == 1.0


def test_node_data_for_model_explorer(tmp_path: Path) -> None:
    program = sardonyx.export(Net(), (X,))
    infos = verify_onnx_program(program, compare_intermediates=True)
    paths = save_node_data_from_verification_info(infos, program.model, tmp_path, "net")
    assert [path.name for path in paths] == ["net_max_abs_diff.json", "net_max_rel_diff.json"]
    (graph,) = json.loads(paths[0].read_text()).values()
    assert isinstance(graph["results"]["linear"]["value"], float)
    assert [stop["stop"] for stop in graph["gradient"]] == [0, 0.5, 1]


@pytest.mark.parametrize("backend", [OnnxBackend.ONNX_RUNTIME_CPU, OnnxBackend.REFERENCE])
def test_verify(backend: OnnxBackend) -> None:
    options = VerificationOptions(backend=backend, atol=1e-5)
    verify(torch.nn.Linear(6, 2), (X,), options=options, additional_test_inputs=[(X + 1,)])
    verify(torch.nn.Linear(6, 2), X, input_names=["x"], opset_version=17, options=options)


class Exact(torch.nn.Module):
    """exp and sin differ in their last bits; the rest is exact."""

    def forward(self, x):
        a = (x + 1).relu()
        b = torch.exp(a) - 2
        c = (b * 4).abs()
        return torch.sin(c * 3).neg(), c


MANY = torch.linspace(-3, 3, 4001)
STRICT = VerificationOptions(rtol=0.0, atol=0.0)


def test_verify_says_what_differs() -> None:
    with pytest.raises(AssertionError, match="values differ"):
        verify(Exact(), (MANY,), options=STRICT)
    verify(Exact(), (MANY,), options=VerificationOptions(0, acceptable_error_percentage=1.0))
    with pytest.raises(ValueError, match=r"between 0\.0 and 1\.0"):
        verify(Exact(), (MANY,), options=VerificationOptions(acceptable_error_percentage=2.0))


def test_find_mismatch(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    info = find_mismatch(Exact(), (MANY,), options=STRICT)
    assert isinstance(info, GraphInfo)
    assert info.has_mismatch()
    leaves = info.all_mismatch_leaf_graph_info()
    kinds = {kind for leaf in leaves for kind in leaf.essential_node_kinds()}
    assert "aten::exp" in kinds
    assert kinds <= {"aten::exp", "aten::sin"}
    assert all(leaf.essential_node_count() == 1 for leaf in leaves)
    info.pretty_print_tree()
    printed = capsys.readouterr().out
    assert printed.startswith("==================================== Tree: ====")
    assert f"{info.essential_node_count()} X " in printed
    assert "X (aten::exp)" in printed
    assert "'aten::exp': 1" in printed
    leaf = info.find_partition(leaves[0].id)
    assert leaf is leaves[0]
    assert info.find_partition(leaves[0].id + "0") is None
    leaf.pretty_print_mismatch(graph=True)
    assert "values differ" in capsys.readouterr().out
    folder = Path(leaf.export_repro(str(tmp_path), "repro"))
    assert {p.name for p in folder.iterdir()} == {"model.onnx", "mismatch.json", "test_data_set_0"}
    assert (folder / "test_data_set_0" / "input_0.pb").stat().st_size > 16000
    assert leaf.pt_outs is not None
    assert info.pt_outs is None  # values between the halves are let go
    info.clear()
    assert not info.has_mismatch()


class Masked(torch.nn.Module):
    """What differs does not show in what is returned."""

    def forward(self, x):
        return torch.exp(x) > -1


def test_find_mismatch_of_a_value_that_does_not_show() -> None:
    info = find_mismatch(Masked(), (MANY,), options=STRICT)
    (leaf,) = info.all_mismatch_leaf_graph_info()
    assert leaf.essential_node_kinds() == {"aten::exp"}


def test_find_mismatch_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    info = find_mismatch(Net(), X, verbose=True)
    assert not info.has_mismatch()
    assert info.all_mismatch_leaf_graph_info() == []
    assert "√" in capsys.readouterr().out


def test_it_is_found_from_the_package() -> None:
    assert sardonyx.verification is verification


def test_view(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    class Netron:
        @staticmethod
        def start(path: str) -> str:
            opened.append(path)
            return "http://localhost:8080"

    monkeypatch.setitem(sys.modules, "netron", Netron)
    program = sardonyx.export(Net(), (X,))
    assert sardonyx.view(program) == "http://localhost:8080"
    assert Path(opened[0]).is_file()
    sardonyx.view("model.onnx")
    assert opened[1] == "model.onnx"
    monkeypatch.setitem(sys.modules, "netron", None)
    with pytest.raises(sardonyx.OnnxExporterError, match="pip install netron"):
        sardonyx.view(program)


class OfRanks(torch.nn.Module):
    """What either side gives is of another rank, so that the model has one side alone."""

    def forward(self, x):
        return x.sum() if x.shape[0] > 4 else x - 1


@pytest.mark.filterwarnings("ignore::sardonyx.errors.SpecializationWarning")
@pytest.mark.parametrize("capture", ["quick", "torch"])
@pytest.mark.parametrize(
    ("dim", "said"), [("rows", "rows is 1"), (torch.export.Dim.AUTO, r"x.shape\[0\] is 1")]
)
def test_verify_names_the_size_that_differs(dim, said, capture):
    with pytest.raises(sardonyx.VerificationError, match=said):
        sardonyx.export(
            OfRanks(), (torch.ones(6, 3),), dynamic_shapes=({0: dim},), capture=capture, verify=True
        )


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2 if x.shape[0] > 4 else x + 1


def test_verify_runs_the_module_at_several_sizes_and_leaves_it_as_it_was():
    seen = []
    model = Counts()
    hook = model.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape[0]))
    shapes = ({0: torch.export.Dim("rows", min=0, max=64)},)
    made = sardonyx.export(model, (torch.ones(6, 3),), dynamic_shapes=shapes, verify=True)
    hook.remove()
    assert made.accuracy
    assert {0, 1, 6, 7} <= {size for size in seen if type(size) is int}
    assert model.calls == 0


def test_sizes_that_pytorch_does_not_take_are_not_verified():
    def checked(x):
        if x.shape[0] < 4:
            raise ValueError("too few")
        return x + 1

    sardonyx.export(checked, (torch.ones(6, 3),), dynamic_shapes=({0: "rows"},), verify=True)


def test_a_report_is_written_where_torch_export_captures_nothing(tmp_path):
    def branches(x):
        return x * 2 if x.shape[0] > 4 else x - 1

    shapes = ({0: torch.export.Dim("rows")},)
    sardonyx.export(
        branches, (torch.ones(6, 3),), dynamic_shapes=shapes, report=True, artifacts_dir=tmp_path
    )
    assert list(tmp_path.glob("*.md"))

"""The live walk gives the Program that the reader gives for the file of the same program."""

from __future__ import annotations

import gc
import warnings
import weakref
from pathlib import Path

import pytest
import torch

import sardonyx
from sardonyx import _native

from .programs import PROGRAMS


def listing(program: _native.Program) -> list[str]:
    return str(program).splitlines()


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_live_and_file_give_the_same_program(name: str, tmp_path: Path) -> None:
    exported = PROGRAMS[name]().captured()
    live = listing(_native.walk(exported, {}))
    path = tmp_path / "program.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(exported, path)
    assert live == listing(_native.read(str(path), [], [], []))


def test_an_operator_nobody_knows_keeps_its_own_schema() -> None:
    @torch.library.custom_op("sardonyx_tests::twice", mutates_args=())
    def twice(x: torch.Tensor, by: float = 2.0, more: int = 1) -> torch.Tensor:
        return x * by * more

    twice.register_fake(lambda x, by=2.0, more=1: torch.empty_like(x))

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return twice(x, more=3)

    program = _native.walk(torch.export.export(Model(), (torch.randn(2),)), {})
    assert "sardonyx_tests::twice(%x, more=3)" in str(program)


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight


def test_weights_stay_alive_as_long_as_the_program() -> None:
    model = Linear()
    storage = weakref.ref(model.weight.untyped_storage())
    program = sardonyx.export(model, (torch.randn(2, 3),))
    # The program borrows the storage, whatever happens to the parameter and the ExportedProgram.
    expected = model.weight.detach().clone()
    native = program._model
    del model, program
    gc.collect()
    assert storage() is not None or native is not None
    kept = sardonyx.ONNXProgram(native, None)
    x = torch.randn(2, 3)
    torch.testing.assert_close(kept(x)[0], x @ expected)


def test_fake_weights_have_no_data() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        model = Linear()
        exported = torch.export.export(model, (torch.randn(2, 3),))
    assert "no data" in str(_native.walk(exported, {}))


def test_dimension_names_are_the_users() -> None:
    exported = torch.export.export(
        Linear(), (torch.randn(2, 3),), dynamic_shapes=({0: torch.export.Dim("rows")},)
    )
    symbol = str(exported.range_constraints and next(iter(exported.range_constraints)))
    assert "float32[rows, 3]" in str(_native.walk(exported, {symbol: "rows"}))


@pytest.mark.parametrize(
    ("weight", "code"),
    [
        (torch.quantize_per_tensor(torch.randn(2), 0.1, 0, torch.qint8), "SX1222"),
        (torch.empty(2, dtype=torch.complex32), "SX1221"),
    ],
    ids=["quantized", "half-precision complex"],
)
def test_weights_that_cannot_be_said(weight: torch.Tensor, code: str) -> None:
    exported = torch.export.export(Linear(), (torch.randn(2, 3),))
    exported.state_dict["weight"] = weight
    with pytest.raises(sardonyx.OnnxExporterError) as failure:
        _native.walk(exported, {})
    assert [d.code for d in failure.value.diagnostics] == [code]


def test_a_missing_weight_is_named() -> None:
    exported = torch.export.export(Linear(), (torch.randn(2, 3),))
    del exported.state_dict["weight"]
    with pytest.raises(sardonyx.ProgramError, match="'weight'"):
        _native.walk(exported, {})

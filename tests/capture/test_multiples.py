"""Rounded quotients of sizes: multiples have one form, and negative divisors round as in Python."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import sympy
import torch
from torch.nn.functional import avg_pool1d, pad
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod, PythonMod

import sardonyx
from sardonyx._capture.meta_tracer.symbolic.multiples import as_multiple
from sardonyx._capture.meta_tracer.symbolic.periodic import chosen, exact_quotient

N = sympy.Symbol("n", integer=True, nonnegative=True)
UP = 4 * FloorDiv(N + 3, 4)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (N + Mod(4 - Mod(N, 4), 4), UP),
        (N + PythonMod(-N, 4), UP),
        (N + PythonMod(4 - Mod(N, 8), 4), UP),
        (N + Mod(N, 2), 2 * FloorDiv(N + 1, 2)),
        (N - Mod(N, 4), 4 * FloorDiv(N, 4)),
        (N + 4 - Mod(N, 4), 4 * FloorDiv(N, 4) + 4),
        (N + Mod(N, 4), None),
        (N - Mod(N, 4) * Mod(N, 2), None),
        (N + Mod(FloorDiv(Mod(N, 4), 2), 2), None),
    ],
)
def test_a_padded_size_is_a_multiple(size: sympy.Expr, expected: sympy.Expr | None) -> None:
    found = as_multiple(size)
    assert found == (size if expected is None else expected)
    for number in range(50):
        assert found.subs(N, number) == size.subs(N, number)


M = sympy.Symbol("m", integer=True, nonnegative=True)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (Max(0, 2 * FloorDiv(N + 1, 2) - N + 5), 2 * FloorDiv(N + 1, 2) - N + 5),
        (Max(N, 4 * FloorDiv(N, 4)), N),
        (Min(N, 4 * FloorDiv(N, 4)), 4 * FloorDiv(N, 4)),
        (Max(N, 1), None),  # n may be 0
        (Max(N, 4 * FloorDiv(N + 1, 4)), None),
        (Max(N, M), None),
    ],
)
def test_a_maximum_is_the_size_that_is_never_less(
    size: sympy.Expr, expected: sympy.Expr | None
) -> None:
    assert chosen(size) == (size if expected is None else expected)


def test_a_size_of_data_may_be_negative() -> None:
    size = Max(0, sympy.Symbol("u0", integer=True))
    assert chosen(size) == size


@pytest.mark.parametrize(
    ("size", "divisor", "expected"),
    [
        (M * (8 * FloorDiv(N, 4) + 8) * 12, FloorDiv(N, 4) + 1, 96 * M),
        (M * N + M, N + 1, M),
        (M * N, FloorDiv(N, 4), None),
        (M * N + M, 2 * N + 2, None),
        (N, sympy.Integer(4), None),
    ],
)
def test_a_multiple_is_divided_as_a_polynomial(
    size: sympy.Expr, divisor: sympy.Expr, expected: sympy.Expr | None
) -> None:
    assert exact_quotient(size, divisor) == expected


class Same(torch.nn.Module):
    """A convolution that is padded to `ceil(size / 2)` elements, as TensorFlow pads, twice."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv1d(2, 2, 5, stride=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            size = x.shape[-1]
            missing = max((math.ceil(size / 2) - 1) * 2 + 5 - size, 0)
            x = self.convolution(pad(x, (missing // 2, missing - missing // 2)))
        return x[..., : math.floor(size / 2)]


def test_rounded_quotients_of_sizes_are_integers() -> None:
    model = Same().eval()
    dims = ({2: torch.export.Dim("n", min=1)},)
    program = sardonyx.export(model, (torch.rand(1, 2, 29),), dynamic_shapes=dims, capture="quick")
    (output,) = program.model_proto.graph.output
    assert not {node.op_type for node in program.model_proto.graph.node} & {"Ceil", "Floor"}
    assert len(str(output.type.tensor_type.shape.dim[2].dim_param)) < 60
    for size in (1, 2, 3, 4, 30, 41):
        x = torch.rand(1, 2, size)
        torch.testing.assert_close(program(x)[0], model(x))


class WindowsOfGrid(torch.nn.Module):
    """Images of whole windows, parted into these and joined again."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = (x.shape[1] + 31) // 32, (x.shape[2] + 31) // 32
        x = x[:, :1, :1].expand(-1, 8 * rows, 8 * columns, -1).contiguous()
        x = x.view(x.shape[0], rows, 8, columns, 8, 3).permute(0, 1, 3, 2, 4, 5).contiguous()
        x = x.view(-1, 8, 8, 3).softmax(1)
        x = x.view(-1, rows, columns, 8, 8, 3).permute(0, 1, 3, 2, 4, 5).contiguous()
        return x.view(x.shape[0], 8 * rows, 8 * columns, -1)


def test_windows_of_two_sizes_are_never_asked_about() -> None:
    auto = torch.export.Dim.AUTO
    program = sardonyx.export(
        WindowsOfGrid(),
        (torch.rand(2, 40, 70, 3),),
        dynamic_shapes=({0: auto, 1: auto, 2: auto},),
        capture="quick",
    )
    assert not [note for note in program.notes if note.severity != "note"]
    for sizes in ((2, 40, 70, 3), (1, 32, 1, 3), (3, 1, 97, 3)):
        x = torch.rand(sizes)
        torch.testing.assert_close(program(x)[0], WindowsOfGrid()(x))


class Windows(torch.nn.Module):
    """Softmax within windows of an image that is padded to whole ones, as in Swin."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width = x.shape[1:]
        x = pad(x, (0, (4 - width % 4) % 4, 0, (4 - height % 4) % 4))
        batch, rows, columns = x.shape
        x = x.view(batch, rows // 4, 4, columns // 4, 4).transpose(2, 3)
        x = x.reshape(-1, 16).softmax(-1)
        x = x.view(-1, rows // 4, columns // 4, 4, 4).transpose(2, 3)
        return x.reshape(-1, rows, columns)[:, :height, :width]


def test_windows_of_any_image() -> None:
    dims = (
        {0: torch.export.Dim("batch"), 1: torch.export.Dim("height"), 2: torch.export.Dim("width")},
    )
    program = sardonyx.export(
        Windows(), (torch.rand(2, 9, 14),), dynamic_shapes=dims, capture="quick"
    )
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    for sizes in ((2, 9, 14), (1, 8, 3), (3, 1, 17)):
        x = torch.rand(sizes)
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        np.testing.assert_allclose(found, Windows()(x).numpy(), rtol=1e-5)


class Quotients(torch.nn.Module):
    """`n // 2 // -4`, which PyTorch takes for `n // -8`, as a factor and as windows."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x[:, ::2]
        windows = -(x.shape[1] // -4)
        padded = pad(x, (0, windows * 4 - x.shape[1]))
        return x * windows, padded.unflatten(1, (windows, 4)).sum(-1)


@pytest.mark.parametrize("capture", ["quick", "torch"])
def test_quotients_by_negative_numbers(capture: str) -> None:
    dims = ({1: torch.export.Dim("n", min=8)},)
    program = sardonyx.export(
        Quotients(), (torch.rand(2, 16),), dynamic_shapes=dims, capture=capture
    )
    for size in (8, 9, 17, 24):
        x = torch.rand(2, size)
        for found, expected in zip(program(x), Quotients()(x), strict=True):
            torch.testing.assert_close(found, expected)


def test_a_quotient_that_pytorch_has_wrong_is_no_wrong_model(tmp_path: Path) -> None:
    class Factor(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * (x.shape[0] // 2 // -4)

    dims = ({0: torch.export.Dim("n")},)
    program = torch.export.export(Factor(), (torch.rand(10),), dynamic_shapes=dims)
    torch.export.save(program, tmp_path / "model.pt2")
    for convert in (
        lambda: sardonyx.export(program),
        lambda: sardonyx.convert(tmp_path / "model.pt2"),
    ):
        converted = None
        with suppress(sardonyx.errors.ProgramError):  # SX1205
            converted = convert()
        if converted is not None:  # of a PyTorch that rounds it as Python does
            torch.testing.assert_close(converted(torch.ones(9))[0], Factor()(torch.ones(9)))


class Pairs(torch.nn.Module):
    """Adds neighbors of what is padded to an even size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = avg_pool1d(x, 4)
        x = pad(x, (0, x.shape[-1] % 2))
        return x[..., 0::2] + x[..., 1::2] * 2


def test_a_declared_size_is_not_restricted_to_some_multiples() -> None:
    """torch.export takes the width for `8 * s - 3`."""
    dims = ({2: torch.export.Dim("w", min=1)},)
    program = sardonyx.export(Pairs(), (torch.rand(1, 2, 29),), dynamic_shapes=dims)
    (note,) = program.notes
    assert note.severity == "note"
    assert "raises in PyTorch where it is not at least 4" in note.message
    for size in (8, 12, 29):
        x = torch.rand(1, 2, size)
        torch.testing.assert_close(program(x)[0], Pairs()(x))

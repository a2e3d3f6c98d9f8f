"""Rounded quotients of sizes: multiples have one form, and negative divisors round as in Python."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import sympy
import torch
from torch.nn.functional import avg_pool1d, pad
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod

import sardonyx
from sardonyx._capture.meta_tracer.symbolic.multiples import as_multiple

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

"""Sizes that are padded or cut to a multiple have one form, and windows of them stay dynamic."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import sympy
import torch
from torch.nn.functional import pad
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

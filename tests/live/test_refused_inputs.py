"""What users give that no model can be made of ends in an error that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import sardonyx


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Held(torch.nn.Module):
    """A product with a sparse weight."""

    weight: torch.Tensor

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight


class Silent(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[None, str]:
        return None, "text"


X = torch.randn(2, 4)


@pytest.mark.parametrize("sparse", [X.to_sparse(), X.to_sparse_csr()])
@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_sparse_inputs(sparse: torch.Tensor, capture: str) -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1221.*'x' is a tensor of layout"):
        sardonyx.export(Twice(), (sparse,), capture=capture)


def test_sparse_weights() -> None:
    weight = torch.eye(4)
    (y,) = sardonyx.export(Held(weight.to_sparse()), (X,))(X)
    torch.testing.assert_close(y, X)
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1221.*layout torch.sparse_csr"):
        sardonyx.export(Held(weight.to_sparse_csr()), (X,))


def test_a_saved_program_with_a_sparse_input(tmp_path: Path) -> None:
    path = tmp_path / "sparse.pt2"
    torch.export.save(torch.export.export(Twice(), (X.to_sparse(),)), path)
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1221.*layout torch.sparse_coo"):
        sardonyx.convert(path)


def test_nothing_to_compute() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1204.*returns no tensor"):
        sardonyx.export(Silent(), (X,))


@pytest.mark.parametrize("axis", ["batch", 1.5, None])
def test_dimensions_that_are_no_integers(axis: Any) -> None:
    dim = torch.export.Dim("batch")
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1001.*counted by integers"):
        sardonyx.export(Twice(), (X,), dynamic_shapes=({axis: dim},))


@pytest.mark.parametrize("program", [None, 3, b"PK"])
def test_what_is_no_program(program: Any) -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1001.*path of a file, not"):
        sardonyx.convert(program)


@pytest.mark.parametrize(
    ("f", "says"),
    [
        ({"y": X}, r"f, is where the model is saved.*not dict(.|\n)*kwargs=\{\.\.\.\}"),
        ({0: "batch"}, r"not dict(.|\n)*dynamic_shapes="),
        (X, r"not Tensor(.|\n)*one tuple"),
        (3, r"not int"),
    ],
)
def test_inputs_where_the_file_is_named(f: Any, says: str) -> None:
    with pytest.raises(sardonyx.errors.UsageError, match=r"SX1001(.|\n)*" + says):
        sardonyx.export(Twice(), (X,), f)

"""How far apart numbers may be that count as equal, said once for the package and its tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch


class Tolerance(NamedTuple):
    """|actual - expected| <= absolute + relative * |expected|."""

    relative: float
    absolute: float

    def widened(self, factor: float) -> Tolerance:
        """Both times `factor`."""
        return Tolerance(self.relative * factor, self.absolute * factor)


EXACT = Tolerance(0.0, 0.0)


class _Row(NamedTuple):
    operator: Tolerance
    model: Tolerance


# Of one operator, and of a whole model, which stacks dozens of them: sums run in another order in
# ONNX Runtime. What is not listed must be equal.
_ROWS = {
    "float64": _Row(Tolerance(1e-7, 1e-7), Tolerance(1e-7, 1e-8)),
    "float32": _Row(Tolerance(1e-4, 1e-5), Tolerance(1e-3, 1e-4)),
    "float16": _Row(Tolerance(5e-3, 1e-3), Tolerance(1e-2, 2e-3)),
    "bfloat16": _Row(Tolerance(3e-2, 1e-2), Tolerance(5e-2, 2e-2)),
}
_EXACT = _Row(EXACT, EXACT)
# Complex numbers are compared by their parts.
_PARTS = {"complex128": "float64", "complex64": "float32", "complex32": "float16"}


def of_operator(dtype: torch.dtype) -> Tolerance:
    """For the answer of one operator."""
    return _row(dtype).operator


def of_model(dtype: torch.dtype) -> Tolerance:
    """For an output of a whole model."""
    return _row(dtype).model


def _row(dtype: torch.dtype) -> _Row:
    name = str(dtype).removeprefix("torch.")
    return _ROWS.get(_PARTS.get(name, name), _EXACT)

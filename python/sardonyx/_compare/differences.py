"""How far values of a model are from PyTorch's."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from .tensors import close
from .tolerances import EXACT, Tolerance, of_model

if TYPE_CHECKING:
    import torch

_PIECE = 1 << 20  # elements that are compared at a time
_EDGES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1000000.0)


@dataclasses.dataclass
class VerificationInfo:
    """How far a value of the ONNX model is from PyTorch's.

    Attributes:
        name: of the value, an output of the model or an intermediate one.
        max_abs_diff, max_rel_diff: the largest differences; infinite where only one is finite.
        abs_diff_hist, rel_diff_hist: how many elements differ by how much: counts, and the edges of
            the bins.
        expected_dtype, actual_dtype: PyTorch's and the model's element type.
        wrong_elements: how many differ by more than models of this element type may.
        operator, module_path, location: what computes the value ("aten::add"), in which module, and
            the user's line ("model.py:12"), where the program says so.
        is_tie: equal numbers competed for a place, and the model took another one than PyTorch.
        in_model: False where the optimized model has no such value (it was fused away), and it was
            compared in a translation that is not optimized.
    """

    name: str
    max_abs_diff: float
    max_rel_diff: float
    abs_diff_hist: tuple[torch.Tensor, torch.Tensor]
    rel_diff_hist: tuple[torch.Tensor, torch.Tensor]
    expected_dtype: torch.dtype
    actual_dtype: torch.dtype
    wrong_elements: int = 0
    operator: str = ""
    module_path: str = ""
    location: str = ""
    is_tie: bool = False
    in_model: bool = True

    @property
    def is_mismatch(self) -> bool:
        """Whether the value differs by more than rounding, and not because numbers are equal."""
        alike = self.expected_dtype == self.actual_dtype or self.expected_dtype.is_complex
        return not self.is_tie and not (alike and self.wrong_elements == 0)

    @classmethod
    def from_tensors(
        cls,
        name: str,
        expected: torch.Tensor | float | bool,
        actual: torch.Tensor | float | bool,
    ) -> VerificationInfo:
        """Compares two tensors of one shape, or numbers. NaN equals NaN, and infinity itself."""
        return compared(name, expected, actual).info()

    def asdict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "name": self.name,
            "max_abs_diff": self.max_abs_diff,
            "max_rel_diff": self.max_rel_diff,
            "abs_diff_hist": [part.tolist() for part in self.abs_diff_hist],
            "rel_diff_hist": [part.tolist() for part in self.rel_diff_hist],
            "expected_dtype": str(self.expected_dtype),
            "actual_dtype": str(self.actual_dtype),
            "wrong_elements": self.wrong_elements,
            "operator": self.operator,
            "module_path": self.module_path,
            "location": self.location,
            "is_tie": self.is_tie,
            "in_model": self.in_model,
        }


class _Largest:
    """The largest of many differences, and how many there are of which size.

    In Python's own memory: tensors that stay would lie scattered between the large ones that go,
    whose memory could not be used again.
    """

    def __init__(self) -> None:
        self.largest = 0.0
        self.counts = [0.0] * (len(_EDGES) - 1)

    def add(self, values: torch.Tensor) -> None:
        import torch

        if values.numel() == 0:
            return
        self.largest = max(self.largest, float(values.max()))
        within = values.clamp(max=_EDGES[-1]).float()
        found = torch.histogram(within, bins=torch.tensor(_EDGES)).hist.tolist()
        self.counts = [had + new for had, new in zip(self.counts, found, strict=True)]

    def add_equal(self, count: int) -> None:
        """So many differences of 0."""
        self.counts[0] += count

    def histogram(self) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        return torch.tensor(self.counts), torch.tensor(_EDGES)


@dataclasses.dataclass
class _Comparison:
    name: str
    absolute: _Largest
    relative: _Largest
    expected_dtype: torch.dtype
    actual_dtype: torch.dtype
    wrong: int

    def info(self) -> VerificationInfo:
        return VerificationInfo(
            self.name,
            self.absolute.largest,
            self.relative.largest,
            self.absolute.histogram(),
            self.relative.histogram(),
            self.expected_dtype,
            self.actual_dtype,
            self.wrong,
        )


def differing_shapes(name: str, expected: Any, actual: Any) -> VerificationInfo:
    """Of two tensors that cannot be compared element by element: all of them are wrong."""
    import torch

    want, got = torch.as_tensor(expected), torch.as_tensor(actual)
    inf, counts = float("inf"), _Largest().histogram()
    size = max(want.numel(), got.numel(), 1)
    return VerificationInfo(name, inf, inf, counts, counts, want.dtype, got.dtype, size)


def compared(name: str, expected: Any, actual: Any) -> _Comparison:
    import torch

    want, got = torch.as_tensor(expected), torch.as_tensor(actual)
    absolute, relative = _Largest(), _Largest()
    tolerance, wrong = of_model(want.dtype), 0
    # In pieces: differences are computed in float64, which would take many times the memory.
    pieces = (part.reshape(-1).split(_PIECE) for part in _alike(want, got))
    for wanted, given in zip(*pieces, strict=True):
        if wanted.dtype == given.dtype and torch.equal(wanted, given):  # most are
            absolute.add_equal(wanted.numel())
            relative.add_equal(wanted.numel())
            continue
        apart, in_proportion = _differences(wanted, given)
        absolute.add(apart)
        relative.add(in_proportion)
        if tolerance == EXACT or bool((apart > tolerance.absolute).any()):
            wrong += _count_wrong(wanted, given, tolerance)
    return _Comparison(name, absolute, relative, want.dtype, got.dtype, wrong)


def _count_wrong(want: torch.Tensor, got: torch.Tensor, tolerance: Tolerance) -> int:
    return int(want.numel() - close(got, want, tolerance).sum())


def _alike(want: torch.Tensor, got: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both on the CPU and of one shape. ValueError where they are not of one."""
    import torch

    want = want.detach().resolve_conj().resolve_neg().cpu()
    got = got.detach().cpu()
    if want.is_complex() and not got.is_complex():
        want = torch.view_as_real(want)
    if want.shape != got.shape:
        raise ValueError(f"shapes {list(want.shape)} and {list(got.shape)} differ")
    return want, got


def _differences(want: torch.Tensor, got: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Absolute and relative ones."""
    import torch

    wide = torch.complex128 if want.is_complex() else torch.float64
    want, got = want.to(wide), got.to(wide)
    absolute = (want - got).abs()
    same = (want == got) | (want.isnan() & got.isnan())
    absolute = absolute.masked_fill(same, 0.0).nan_to_num(nan=float("inf"), posinf=float("inf"))
    relative = (absolute / (want.abs() + 1e-7)).nan_to_num(nan=float("inf"), posinf=float("inf"))
    return absolute, relative.masked_fill(same, 0.0)

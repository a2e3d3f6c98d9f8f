"""What came of comparing a model with its program value by value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .differences import VerificationInfo


class Comparison(list[VerificationInfo]):
    """The values that were compared, in the order in which the program computes them.

    Attributes:
        total: how many tensors the program computes.
        missing: the names of those that were not compared, because the model has no such value:
            what nobody reads, and views that are read only after something was written to them.
    """

    def __init__(self, infos: Iterable[VerificationInfo], total: int, missing: Sequence[str]):
        """`infos` in the order of the program."""
        super().__init__(infos)
        self.total = total
        self.missing = list(missing)

    @property
    def compared(self) -> int:
        """How many of the tensors that the program computes were compared."""
        return self.total - len(self.missing)

    @property
    def first_mismatch(self) -> VerificationInfo | None:
        """The first value that differs by more than rounding; None where none does."""
        return next((info for info in self if info.is_mismatch), None)

    @property
    def ties(self) -> list[VerificationInfo]:
        """Places chosen among equal numbers, where the model chose others than PyTorch."""
        return [info for info in self if info.is_tie]

    def __str__(self) -> str:
        """For reading: how many of how many, the first that differs, and ties."""
        lines = [f"{self.compared} of the program's {self.total} values were compared"]
        first = self.first_mismatch
        if first is None:
            lines.append("none of them differs by more than rounding")
        else:
            lines.append("first to differ: " + _described(first))
        lines += [f"tie: {_described(info)}; equal numbers competed" for info in self.ties]
        return "\n".join(lines)


def _described(info: VerificationInfo) -> str:
    parts = [f"'{info.name}'"]
    if info.operator:
        parts.append(f"of {info.operator}")
    if info.module_path:
        parts.append(f"in {info.module_path}")
    if info.location:
        parts.append(f"at {info.location}")
    where = "" if info.in_model else ", which the optimized model computes inside of another value"
    by = f"by up to {info.max_abs_diff:.3g} in {info.wrong_elements} elements"
    return f"{' '.join(parts)}, {by}{where}"

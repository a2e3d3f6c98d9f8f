"""Data-dependent control flow that a captured program has specialized to the example's data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.source_location import Place

from .assertions import note_of_check


class SpecializedBranchError(RuntimeError):
    """The program would have only one branch of data-dependent control flow."""


@dataclass
class Specializations:
    """`python`: lines of Python whose control flow is specialized to the example. `scripted`:
    data-dependent branches and loops of scripted functions, which must never be specialized.
    `elements`: the lines of `python` that depend on elements of tensors, not on sizes. `keeping`:
    how many calls are running of operators that ask tensors for integers which tracing keeps.
    `checks`: lines that only raise where the example's data or sizes are others."""

    python: list[Place] = field(default_factory=list)
    scripted: list[Place] = field(default_factory=list)
    elements: list[Place] = field(default_factory=list)
    checks: list[Place] = field(default_factory=list)
    keeping: int = 0

    @contextmanager
    def keeping_integers(self) -> Iterator[None]:
        """Within it, what asks a tensor for its index freezes nothing."""
        self.keeping += 1
        try:
            yield
        finally:
            self.keeping -= 1

    def notes(self) -> list[Diagnostic]:
        """A warning for each line of Python, and a note for each check."""
        checks = [note_of_check(place) for place in dict.fromkeys(self.checks)]
        return checks + [
            Diagnostic(
                "SX1013",
                f"the example's data or sizes decide here, for all inputs of the model: {place}",
                severity="warning",
                help="write it with torch.cond, torch.while_loop or torch.where",
                file=place.file,
                line=place.line,
                function=place.function,
            )
            for place in dict.fromkeys(self.python)
        ]

    def refusals(self) -> list[Diagnostic]:
        """An error for each branch or loop that is scripted."""
        return [
            Diagnostic(
                "SX1014",
                f"a scripted function has a data-dependent branch or loop: {place}",
                help="write it with torch.cond or torch.while_loop outside of torch.jit.script",
                file=place.file,
                line=place.line,
            )
            for place in dict.fromkeys(self.scripted)
        ]

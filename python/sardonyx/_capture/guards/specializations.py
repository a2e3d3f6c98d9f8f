"""What data decide, and a captured program has as the example's data decided it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.source_location import Place


class FrozenBranchError(RuntimeError):
    """Only one branch of those that data decide between would be in the program."""


@dataclass
class Frozen:
    """`python`: lines of Python that the program has as the example took them. `scripted`: branches
    and loops of scripted functions on data, which are never to be so. `elements`: of `python`,
    those where elements of tensors decided, not sizes. `keeping`: calls that are under way of
    operators that ask tensors for integers, and of which tracing keeps these."""

    python: list[Place] = field(default_factory=list)
    scripted: list[Place] = field(default_factory=list)
    elements: list[Place] = field(default_factory=list)
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
        """A warning for each line of Python."""
        return [
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
                f"data decide in a scripted function, which the model cannot keep: {place}",
                help="write it with torch.cond or torch.while_loop outside of torch.jit.script",
                file=place.file,
                line=place.line,
            )
            for place in dict.fromkeys(self.scripted)
        ]

"""What optimizing did to a model, and what it left as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sardonyx._base.errors import Diagnostic

from .precision import HeldWeight


class Applied(NamedTuple):
    """A rule or pass that changed the model, and how often."""

    name: str
    times: int


class Declined(NamedTuple):
    """A rule that matched at a node and did not change it, with the reason."""

    rule: str
    node: str
    reason: str


@dataclass(frozen=True)
class OptimizationReport:
    """What `sardonyx.optimize` did. As text it says what the command line does with --explain."""

    applied: tuple[Applied, ...]  # in the order of the pipeline
    declined: tuple[Declined, ...]
    weights: tuple[HeldWeight, ...]  # those of another type than before
    nodes_before: int  # of the graph and all bodies in it
    nodes_after: int
    notes: tuple[Diagnostic, ...] = ()  # warnings, which are also issued as such

    def count(self, name: str) -> int:
        """How often the rule or pass of this name was applied."""
        return sum(each.times for each in self.applied if each.name == name)

    def __str__(self) -> str:
        lines = [f"{self.nodes_after} nodes, {self.nodes_before} before"]
        lines += [str(weight) for weight in self.weights]
        lines += [
            f"{name}: {times} {'time' if times == 1 else 'times'}" for name, times in self.applied
        ]
        nodes: dict[tuple[str, str], list[str]] = {}
        for each in self.declined:
            nodes.setdefault((each.rule, each.reason), []).append(each.node)
        for (rule, reason), names in sorted(nodes.items()):
            more = f" and {len(names) - 4} more" if len(names) > 4 else ""
            lines += [f"{rule} declined: {reason}", f"    {' '.join(names[:4])}{more}"]
        return "\n".join(lines)

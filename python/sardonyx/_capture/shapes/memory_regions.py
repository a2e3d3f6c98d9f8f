"""The graphs of a captured program, with what their calls write to: the program's own, and the
bodies of branches and loops, whose tensors may lie in the memory of those around them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._capture.meta_tracer.meta.aliases import roots, way_back, written
from sardonyx._torch_private.operators import is_overload, schema_of

if TYPE_CHECKING:
    import torch


class Write(NamedTuple):
    """A call, and the tensors that it writes to."""

    node: torch.fx.Node
    targets: list[torch.fx.Node]


@dataclass
class MemoryRegion:
    """A graph. `kept` names the placeholders whose memory is read after the graph has run."""

    graph: torch.fx.Graph
    kept: Collection[str]
    # What a body is given: for each of its placeholders, the node around it.
    operands: dict[torch.fx.Node, torch.fx.Node] = field(default_factory=dict)
    _bodies: dict[torch.fx.Node, list[MemoryRegion]] | None = None

    def bodies(self) -> list[MemoryRegion]:
        """Those of its branches and loops."""
        return [each for bodies in self._by_call().values() for each in bodies]

    def writes(self) -> list[Write]:
        """The calls that write to tensors of this graph, by themselves or in their bodies."""
        found: list[Write] = []
        bodies = self._by_call()
        for node in self.graph.nodes:
            targets: list[torch.fx.Node] = []
            if is_overload(node.target) and schema_of(node.target).is_mutable:
                targets = _nodes(list(written(node.target, node.args, node.kwargs)))
            for body in bodies.get(node, ()):
                changed = {
                    root for each in body.writes() for t in each.targets for root in roots(t)
                }
                targets += [body.operands[root] for root in changed if root in body.operands]
            if targets:
                found.append(Write(node, targets))
        return found

    def is_read_after(
        self, call: torch.fx.Node, memory: set[torch.fx.Node], copy: torch.fx.Node
    ) -> bool:
        """Whether some of the memory, which roots name, is read after a call that writes to it,
        other than by way of `copy`."""
        if any(root.name in self.kept for root in memory):
            return True
        order = {node: place for place, node in enumerate(self.graph.nodes)}
        # A body that writes may read what it is given afterwards.
        first = order[call] + is_overload(call.target)
        return any(
            memory & roots(source) and copy not in way_back(source)
            for reader in self.graph.nodes
            if order[reader] >= first
            for source in reader.all_input_nodes
        )

    def _is_read_behind(self, call: torch.fx.Node, operand: torch.fx.Node) -> bool:
        memory = roots(operand)
        later = itertools.dropwhile(lambda node: node is not call, self.graph.nodes)
        return any(root.name in self.kept for root in memory) or any(
            memory & roots(source)
            for reader in itertools.islice(later, 1, None)
            for source in reader.all_input_nodes
        )

    def _by_call(self) -> dict[torch.fx.Node, list[MemoryRegion]]:
        if self._bodies is None:
            self._bodies = {}
            for node in self.graph.nodes:
                if node.op == "call_function" and not is_overload(node.target):
                    self._bodies[node] = self._bodies_of(node)
        return self._bodies

    def _bodies_of(self, call: torch.fx.Node) -> list[MemoryRegion]:
        import torch

        places = [i for i, each in enumerate(call.args) if _is_body(each)]
        if not places:
            return []
        given = _leaves(call.args[places[-1] + 1 :])
        # What a loop carries is another tensor in the next run; what else it is given is the same.
        carried = len(_leaves(call.args[2])) if "while_loop" in str(call.target) else len(given)
        found: list[MemoryRegion] = []
        for place in places:
            body: Any = call.args[place]
            graph = getattr(self.graph.owning_module, body.target).graph
            placeholders = [each for each in graph.nodes if each.op == "placeholder"]
            pairs = list(zip(placeholders, given, strict=False))
            operands = {p: each for p, each in pairs if isinstance(each, torch.fx.Node)}
            kept = {
                placeholder.name
                for position, (placeholder, operand) in enumerate(pairs)
                if isinstance(operand, torch.fx.Node)
                and (position >= carried or self._is_read_behind(call, operand))
            }
            found.append(MemoryRegion(graph, kept, operands))
        return found


def _is_body(argument: Any) -> bool:
    return getattr(argument, "op", None) == "get_attr" and argument.meta.get("val") is None


def _leaves(arguments: Any) -> list[Any]:
    if isinstance(arguments, (list, tuple)):
        return [leaf for each in arguments for leaf in _leaves(each)]
    return [arguments]


def _nodes(arguments: Sequence[Any]) -> list[torch.fx.Node]:
    import torch

    found: list[torch.fx.Node] = []
    torch.fx.map_arg(list(arguments), found.append)
    return found

"""Graphs within graphs: bodies of control flow, and what they read of the graphs around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from typing_extensions import Self

from sardonyx._capture.meta_tracer.fallback import DeclinedError


@dataclass
class Scope:
    """A graph that calls are written to, and its placeholders of what graphs around it have."""

    graph: torch.fx.Graph
    read: dict[torch.fx.Node, torch.fx.Node] = field(default_factory=dict)
    # What puts tensors back to the nodes that made them outside of the body, which writes to them.
    at_end: list[Callable[[], None]] = field(default_factory=list)

    def placeholder(self, value: Any) -> torch.fx.Node:
        """One more, behind those before it."""
        made = self.graph.create_node("placeholder", "given")
        made.meta["val"] = value
        before = next(node for node in self.graph.nodes if node.op != "placeholder" or node is made)
        if before is not made:
            before.prepend(made)
        return made

    def standing_for(self, node: torch.fx.Node) -> torch.fx.Node:
        """The placeholder of a node of the graph around this one."""
        if node not in self.read:
            self.read[node] = self.placeholder(node.meta["val"])
        return self.read[node]


class Scopes:
    """The graphs that are being written, outermost first."""

    def __init__(self, graph: torch.fx.Graph) -> None:
        self._open = [Scope(graph)]

    @property
    def graph(self) -> torch.fx.Graph:
        """The innermost."""
        return self._open[-1].graph

    @property
    def outermost(self) -> Scope:
        """The program's own graph."""
        return self._open[0]

    @property
    def innermost(self) -> Scope:
        """The one that calls are written to."""
        return self._open[-1]

    @contextmanager
    def opened(self) -> Iterator[Scope]:
        """Within it, calls are written to a graph of their own."""
        scope = Scope(torch.fx.Graph())
        self._open.append(scope)
        try:
            yield scope
        finally:
            self._open.pop()
            for put_back in reversed(scope.at_end):
                put_back()

    def at_end_of_body(self, put_back: Callable[[], None]) -> None:
        """Has something called when the innermost body ends; without one, never."""
        self._open[-1].at_end.append(put_back)

    def here(self, node: torch.fx.Node) -> torch.fx.Node:
        """What stands for a node in the innermost graph. Declines what left the body that made
        it."""
        if node.graph is self.graph:
            return node
        graphs = [scope.graph for scope in self._open]
        if node.graph not in graphs:
            raise DeclinedError("a tensor of a body is used outside of it")
        for scope in self._open[graphs.index(node.graph) + 1 :]:
            node = scope.standing_for(node)
        return node


def share_what_they_read(bodies: Sequence[Scope]) -> list[torch.fx.Node]:
    """Gives all bodies the same placeholders of the graph around them, behind their own. Returns
    what these stand for."""
    nodes = list(dict.fromkeys(node for body in bodies for node in body.read))
    for body in bodies:
        ordered = [body.standing_for(node) for node in nodes]
        end = next(node for node in body.graph.nodes if node.op != "placeholder")
        for placeholder in ordered:
            end.prepend(placeholder)
    return nodes


class Body(torch.fx.GraphModule):
    """A graph as calls hold it. Nobody runs it, so that no code is written of it."""

    def __new__(cls, *_: object) -> Self:
        return torch.nn.Module.__new__(cls)

    def __init__(self, graph: torch.fx.Graph) -> None:
        torch.nn.Module.__init__(self)
        self._graph = graph


def held(graph: torch.fx.Graph, body: torch.fx.Graph, name: str) -> torch.fx.Node:
    """The node that stands for a body among a call's arguments."""
    whole: Any = graph  # whose owner may be anything that has attributes
    if whole.owning_module is None:
        whole.owning_module = SimpleNamespace()
    owner = whole.owning_module
    number = 0
    while hasattr(owner, f"{name}_{number}"):
        number += 1
    setattr(owner, f"{name}_{number}", Body(body))
    return graph.create_node("get_attr", f"{name}_{number}")

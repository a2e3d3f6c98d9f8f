"""Regions under autocast, or with gradients: what stands between their marks becomes a call with a
body, as torch.export has it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.control_flow.scopes import Scope, held
from sardonyx._torch_private import modes

_ENTER, _EXIT, _GRADIENTS = modes.ENTER_AUTOCAST, modes.EXIT_AUTOCAST, modes.SET_GRADIENTS
MARKS: tuple[Callable[..., Any], ...] = (_ENTER, _EXIT, _GRADIENTS)


def finish(graph: torch.fx.Graph) -> None:
    """Makes regions of the marks in a graph that is complete, and drops what nobody reads of what
    PyTorch's factories do to their results."""
    for node in reversed(graph.nodes):
        if node.target is torch.ops.aten.detach.default and not node.users:
            graph.erase_node(node)
    if any(node.target in MARKS for node in graph.nodes):
        _fold_autocast(graph)
        _fold_gradients(graph)


def _fold_autocast(graph: torch.fx.Graph) -> None:
    """The outermost regions; those within are found as their bodies are finished."""
    opened: torch.fx.Node | None = None
    members: list[torch.fx.Node] = []
    for node in list(graph.nodes):
        if opened is None:
            opened = node if node.target is _ENTER else None
        elif node.target is _EXIT and node.args[0] is opened:
            graph.erase_node(node)
            _fold(graph, members, torch.ops.higher_order.wrap_with_autocast, opened.args)
            graph.erase_node(opened)
            opened, members = None, []
        else:
            members.append(node)


def _fold_gradients(graph: torch.fx.Graph) -> None:
    """Folds the regions that have gradients. Programs are captured without them, so that all other
    regions need no call."""
    has_gradients = False
    members: list[torch.fx.Node] = []
    for node in list(graph.nodes):
        if node.target is not _GRADIENTS and node.op != "output":
            members += [node] if has_gradients else []
            continue
        if members:
            wrap = torch.ops.higher_order.wrap_with_set_grad_enabled
            _fold(graph, members, wrap, (True,))
            members = []
        if node.op != "output":
            has_gradients = bool(node.args[0])
            graph.erase_node(node)


def _fold(
    graph: torch.fx.Graph, members: Sequence[torch.fx.Node], wrap: Any, options: tuple[Any, ...]
) -> None:
    """Moves nodes into the body of one call that stands where they did."""
    if not members:
        return
    inside, scope = set(members), Scope(torch.fx.Graph())
    copies: dict[torch.fx.Node, torch.fx.Node] = {}

    def copied(node: torch.fx.Node) -> torch.fx.Node:
        return copies[node] if node in inside else scope.standing_for(node)

    for node in members:
        if node.op == "get_attr":
            body: Any = getattr(graph.owning_module, str(node.target))
            copies[node] = held(scope.graph, body.graph, str(node.target).rstrip("0123456789_"))
        else:
            copies[node] = scope.graph.node_copy(node, copied)
    read_outside = [node for node in members if any(user not in inside for user in node.users)]
    scope.graph.output(tuple(copies[node] for node in read_outside))
    finish(scope.graph)
    with graph.inserting_before(members[0]):
        body_node = held(graph, scope.graph, "submod")
        call = graph.create_node("call_function", wrap, (*options, body_node, *scope.read))
        values = [node.meta["val"] for node in read_outside]
        call.meta = {"nn_module_stack": members[0].meta.get("nn_module_stack"), "val": values}
        for index, node in enumerate(read_outside):
            item = graph.create_node("call_function", operator.getitem, (call, index))
            item.meta = dict(node.meta)
            node.replace_all_uses_with(
                item, delete_user_cb=lambda user: user not in inside, propagate_meta=False
            )
    for node in reversed(members):
        graph.erase_node(node)

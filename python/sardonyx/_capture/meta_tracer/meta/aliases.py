"""Which tensors may share memory, as their nodes tell, and which a call writes to."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.tracer.tensor_items import NUMBERS
from sardonyx._torch_private import operators

# Compositions that always compute a tensor of their own.
_COMPUTING = frozenset(
    (torch.ops.aten.linear.default, torch.ops.aten.matmul.default, torch.ops.aten.pad.default)
)


def roots(node: torch.fx.Node) -> set[torch.fx.Node]:
    """The nodes whose memory the tensor may lie in."""
    return {each for each in way_back(node) if not _sources(each)}


def is_unaffected(copy: torch.fx.Node, write: torch.fx.Node) -> bool:
    """Whether it does not matter if the tensor is a copy, or shares the memory that is written: it
    is made after the write, or read before the write alone."""
    if copy.graph is not write.graph:
        return False
    order = {node: place for place, node in enumerate(write.graph.nodes)}
    if order[write] < order[copy]:
        return True
    if not operators.is_overload(write.target):
        return False
    if any(copy in way_back(source) for source in write.all_input_nodes):
        return False
    waiting, seen = [copy], {copy}
    while waiting:
        for user in waiting.pop().users:
            if order[user] >= order[write]:
                return False
            if user not in seen and _may_give_its_inputs(user.target):
                seen.add(user)
                waiting.append(user)
    return True


def way_back(node: torch.fx.Node) -> set[torch.fx.Node]:
    """The node, and all whose memory it may share."""
    waiting, seen = [node], {node}
    while waiting:
        for source in _sources(waiting.pop()):
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return seen


def _sources(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The tensors, or lists of them, that a result may share memory with."""
    if not _may_give_its_inputs(node.target):
        return []
    return [each for each in node.all_input_nodes if not isinstance(each.meta.get("val"), NUMBERS)]


def may_be_written(node: torch.fx.Node, writes: Iterable[torch.fx.Node]) -> bool:
    """Whether one of the `writes` may go to the memory of what the tensor is computed of."""
    computed_of = {node}
    waiting = [node]
    while waiting:
        for source in waiting.pop().all_input_nodes:
            if source not in computed_of:
                computed_of.add(source)
                waiting.append(source)
    return any(_may_write_to(computed_of, write) for write in writes)


def _may_write_to(nodes: set[torch.fx.Node], write: torch.fx.Node) -> bool:
    if not operators.is_overload(write.target):
        return True  # bodies
    arguments: list[torch.fx.Node] = []
    torch.fx.map_arg(list(written(write.target, write.args, write.kwargs)), arguments.append)
    return any(roots(each) & nodes for each in arguments)


def written(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Any]:
    """The arguments that a call of the operator writes to: tensors, or lists of them."""
    for i, argument in enumerate(operators.schema_of(op).arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield args[i] if i < len(args) else kwargs.get(argument.name)


@functools.cache
def _may_give_its_inputs(target: Any) -> bool:
    """Whether a result may share memory with an argument. Operators say so, but for those that are
    compositions of others."""
    if target is operator.getitem:
        return True
    if target in _COMPUTING:
        return False
    if not operators.is_overload(target):
        return False
    if any(each.alias_info is not None for each in operators.schema_of(target).returns):
        return True
    return operators.is_composite(target)

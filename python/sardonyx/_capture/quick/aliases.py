"""Which tensors may share memory, as their nodes tell, and which a call writes to."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch


def roots(node: torch.fx.Node) -> set[torch.fx.Node]:
    """The nodes whose memory the tensor may lie in."""
    found: set[torch.fx.Node] = set()
    waiting, seen = [node], {node}
    while waiting:
        each = waiting.pop()
        sources = each.all_input_nodes if _may_give_its_inputs(each.target) else []
        if not sources:
            found.add(each)
        for source in sources:
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return found


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
    if not isinstance(write.target, torch._ops.OpOverload):
        return True  # bodies
    arguments: list[torch.fx.Node] = []
    torch.fx.map_arg(list(written(write.target, write.args, write.kwargs)), arguments.append)
    return any(roots(each) & nodes for each in arguments)


def written(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Any]:
    """The arguments that a call of the operator writes to: tensors, or lists of them."""
    for i, argument in enumerate(op._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield args[i] if i < len(args) else kwargs.get(argument.name)


@functools.cache
def _may_give_its_inputs(target: Any) -> bool:
    """Whether a result may share memory with an argument. Operators say so, but for those that are
    compositions of others."""
    if target is operator.getitem:
        return True
    if not isinstance(target, torch._ops.OpOverload):
        return False
    if any(each.alias_info is not None for each in target._schema.returns):
        return True
    return torch._C._dispatch_has_kernel_for_dispatch_key(
        target.name(), "CompositeImplicitAutograd"
    )

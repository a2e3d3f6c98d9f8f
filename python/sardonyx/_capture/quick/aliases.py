"""Which tensors may share memory, as their nodes tell, and which a call writes to."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
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

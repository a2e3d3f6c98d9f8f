"""Which tensors may share memory, as their nodes tell."""

from __future__ import annotations

import functools
import operator
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

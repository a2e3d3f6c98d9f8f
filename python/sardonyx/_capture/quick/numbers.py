"""Numbers that tensors hold, which Python code of the model reads: item()."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from .declining import DeclinedError

NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
_CONSTANTS = (torch.ops.aten.lift_fresh_copy.default,)


class Numbers:
    """Those that calls gave, and their nodes."""

    def __init__(self) -> None:
        self._made_by: dict[object, torch.fx.Node] = {}

    def note(self, number: Any, node: torch.fx.Node) -> None:
        """The node gives the number. Declines what torch.export computes while it captures."""
        if _is_known(node):
            raise DeclinedError("a number that a constant holds")
        self._made_by[number.node.expr] = node

    def said(self, number: Any) -> Any:
        """The number as arguments have it. Declines what is computed of what data decide."""
        expression = number.node.expr
        made_by = self._made_by.get(expression)
        if made_by is not None:
            return made_by
        if not isinstance(number, torch.SymInt):
            raise DeclinedError("a number computed of sizes")
        if free_unbacked_symbols(expression):
            raise DeclinedError("a number computed of data")
        return number


def _is_known(node: torch.fx.Node) -> bool:
    """Whether single elements of constants are all that it comes from."""
    waiting, seen = [node], {node}
    while waiting:
        each = waiting.pop()
        if each.op != "placeholder" and not each.all_input_nodes:
            return False
        if each.op == "placeholder":
            value = each.meta["val"]
            is_constant = all(user.target in _CONSTANTS for user in each.users)
            if not is_constant or value.numel() > 1:
                return False
        for source in each.all_input_nodes:
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return True

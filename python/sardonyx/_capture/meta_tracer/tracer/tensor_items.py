"""Numbers that tensors hold, which Python code of the model reads: item()."""

from __future__ import annotations

from typing import Any

import torch

from sardonyx._torch_private import pytree

NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
_CONSTANTS = (torch.ops.aten.lift_fresh_copy.default,)


class TensorItems:
    """Numbers that were read from tensors (`x.item()`), and the nodes that give them."""

    def __init__(self) -> None:
        self._made_by: dict[object, torch.fx.Node] = {}

    def note(self, number: Any, node: torch.fx.Node) -> None:
        """The node gives the number."""
        self._made_by[number.node.expr] = node

    def made_by(self, expression: Any) -> torch.fx.Node | None:
        """The node of the call that read it of a tensor."""
        return self._made_by.get(expression)

    def knows(self, number: Any, graph: torch.fx.Graph) -> bool:
        """Whether a call of that graph has given it."""
        made_by = self._made_by.get(number.node.expr)
        return made_by is not None and made_by.graph is graph

    def graph_argument(self, number: Any) -> Any:
        """The number as arguments have it: the node that gave it, or what is computed of such."""
        return self._made_by.get(number.node.expr, number)


def held_by_constant(node: torch.fx.Node) -> Any:
    """The number in a tensor that is computed of single elements of constants alone, which
    torch.export computes, too; None where it is computed of anything else."""
    return _value(node).item() if _is_known(node) else None


def _value(node: torch.fx.Node) -> Any:
    if node.op == "placeholder":
        return node.meta["val"]
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), _value)
    target: Any = node.target
    return target(*args, **kwargs)


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
            if type(value) is not torch.Tensor or not is_constant or value.numel() > 1:
                return False
        elif not _computes(each):
            return False
        for source in each.all_input_nodes:
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return True


def _computes(node: torch.fx.Node) -> bool:
    """Whether a call gives the same whenever it is run, of tensors and numbers alone."""
    tags = getattr(node.target, "tags", ())
    if node.op != "call_function" or torch.Tag.nondeterministic_seeded in tags:
        return False
    return not any(isinstance(each, NUMBERS) for each in pytree.arg_tree_leaves(*node.args))

"""FlexAttention in operators: what its bodies say of one score is said of all of them at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sardonyx._torch_private import operators

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

NAME = "higher_order::flex_attention"


@contextmanager
def spelt_out(program: ExportedProgram) -> Iterator[None]:
    """Within it, the program's calls of FlexAttention call `_attention`."""
    import torch

    graphs = [
        m.graph for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule)
    ]
    calls = [n for g in graphs for n in g.nodes if str(n.target) == "flex_attention"]
    before = [(node, node.target, node.args) for node in calls]
    try:
        for node in calls:
            _spell_out(node)
        yield
    finally:
        for node, target, args in before:
            node.target, node.args = target, args


def _spell_out(node: torch.fx.Node) -> None:
    """The bodies go into the function: torch.export takes those of known operators alone."""
    import torch

    from sardonyx._torch_private import pytree

    module = node.graph.owning_module
    bodies = {
        each.name: getattr(module, str(each.target))
        for each in node.all_input_nodes
        if each.op == "get_attr"
    }

    def call(*args: Any) -> Any:
        known = [bodies.get(a, a) if isinstance(a, str) else a for a in pytree.tree_leaves(args)]
        return _attention(*pytree.tree_unflatten(known, pytree.tree_structure(args)))

    node.args = torch.fx.node.map_arg(node.args, lambda n: n.name if n.name in bodies else n)
    node.target = call


def _attention(  # noqa: PLR0917 (as the operator has them)
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    score_body: Callable[..., Any],
    block_mask: tuple[Any, ...],
    scale: float,
    _options: Any,
    score_operands: tuple[Any, ...] = (),
    mask_operands: tuple[Any, ...] = (),
) -> tuple[torch.Tensor, ...]:
    """The result, the logarithm to base 2 of the sums of its weights, and the largest scores."""
    import torch

    dtype = query.dtype
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    group = query.size(1) // key.size(1)
    key, value = (
        x.repeat_interleave(group, 1).expand(query.size(0), -1, -1, -1) for x in (key, value)
    )
    scores = (query.to(wide) @ key.to(wide).transpose(-2, -1)) * scale
    places = [torch.arange(size) for size in scores.shape]
    with operators.indices_as_operators():  # x[i] with an i that vmap holds is an operator then
        scores = _over_all(score_body, 1, len(score_operands))(scores, *places, *score_operands)
        # The last of the block mask is its body; the rest tells kernels which blocks are empty.
        seen = _over_all(block_mask[-1], 0, len(mask_operands))(*places, *mask_operands)
    scores = scores.to(wide).masked_fill(~seen, -math.inf)
    largest = scores.amax(-1, keepdim=True)
    weights = scores.softmax(-1).masked_fill(largest == -math.inf, 0)
    sums = scores.logsumexp(-1) / math.log(2)
    return weights.to(dtype) @ value, sums, largest.squeeze(-1) / math.log(2)


def _over_all(body: Callable[..., Any], scores: int, operands: int) -> Callable[..., Any]:
    """`body(score..., b, h, q, k, operand...)` for every b, h, q and k: [B, H, Q, K]."""
    import torch

    for axis in reversed(range(4)):
        places = [0 if each == axis else None for each in range(4)]
        body = torch.vmap(body, in_dims=(*[0] * scores, *places, *[None] * operands))
    return body

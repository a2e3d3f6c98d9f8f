"""The slices of a captured program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .dim_spec import size_of
from .sampled_sizes import expression_of

if TYPE_CHECKING:
    import torch


SIZES_READ = "sizes_read"  # in the meta of a node of whose result the model reads the sizes


def slices_in(graph: torch.fx.Graph) -> Iterator[torch.fx.Node]:
    """The calls that slice a tensor."""
    import torch

    yield from graph.find_nodes(op="call_function", target=torch.ops.aten.slice.Tensor)


def parts_of_slice(node: torch.fx.Node) -> tuple[Any, ...] | None:
    """The size, the start, the end, the step and the length; None where a number is read of data,
    or nothing tells."""
    given: dict[str, Any] = dict(
        zip(("self", "dim", "start", "end", "step"), node.args, strict=False)
    )
    given |= node.kwargs
    dim = given.get("dim", 0)
    size, length = size_of(given["self"].meta["val"], dim), size_of(node.meta["val"], dim)
    parts = (size, given.get("start"), given.get("end"), given.get("step", 1), length)
    return tuple(map(expression_of, parts)) if all(map(_is_known, parts)) else None


def length_of_slice(size: int, start: int | None, end: int | None, step: int | None) -> int:
    """How many elements PyTorch takes of so many."""
    return len(range(*slice(start, end, step).indices(size)))


def _is_known(part: Any) -> bool:
    part = part.meta.get("val") if hasattr(part, "meta") else part
    return part is None or isinstance(part, int) or getattr(part, "node", None) is not None

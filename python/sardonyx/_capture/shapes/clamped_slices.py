"""Slices whose length is another than the program says, for some sizes: `x[:, n:]` of a tensor that
has fewer columns is empty, and `x[:, :n]` of it has all of them.

PyTorch's capture takes the length that the example has, and asserts that other sizes do not come.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic

from .dim_names import least_sizes, named_inputs
from .dim_spec import SCALAR, TAKEN_FOR, Leaf, size_of
from .node_warnings import warning_of
from .sampled_sizes import number_at, sampled_sizes
from .slices import length_of_slice, parts_of_slice, slices_in

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


def clamped_slices(program: ExportedProgram, leaves: Sequence[Leaf]) -> list[Diagnostic]:
    """A warning (SX1015) of each, by its line. Of sizes of 1 `short_slices` tells; of sizes of 0
    only a length below 0 is counted, and bounds of other sizes than the one that is sliced: x[-1:]
    is rarely meant for no rows."""
    ranges = {str(symbol): known for symbol, known in program.range_constraints.items()}
    free = _free(program, leaves)
    if not free:
        return []
    least = least_sizes(program, leaves)
    known: dict[Any, bool] = {}
    found: dict[Any, Diagnostic] = {}
    for node in slices_in(program.graph):
        parts = parts_of_slice(node)
        if parts is None or not any(hasattr(each, "free_symbols") for each in parts[:3]):
            continue
        if parts not in known:
            known[parts] = _differs(parts, ranges, least)
        if known[parts]:
            note = _note(node)
            found.setdefault((note.file, note.line), note)
    return list(found.values())


def _free(program: ExportedProgram, leaves: Sequence[Leaf]) -> bool:
    return any(
        hasattr(value if axis == SCALAR else size_of(value, axis), "node")
        for _, value, leaf in named_inputs(program, leaves)
        for axis in leaf.dims
    )


def _differs(parts: tuple[Any, ...], ranges: Mapping[str, Any], least: Mapping[str, int]) -> bool:
    """Whether the length is another for some sizes that the program takes."""
    is_of_numbers = not any(hasattr(each, "free_symbols") for each in parts[1:3])
    symbols = sorted(set().union(*(getattr(p, "free_symbols", ()) for p in parts)), key=str)
    bounds = set().union(*(getattr(p, "free_symbols", ()) for p in parts[1:3]))
    is_of_others = not bounds <= getattr(parts[0], "free_symbols", set())
    for row in sampled_sizes(symbols, ranges, least):
        size, start, end, step, length = (number_at(each, row) for each in parts)
        if size is None or length is None or size < 0:
            continue  # the program does not run at such sizes
        if isinstance(parts[0], int) and not all(_is_within(each, size) for each in (start, end)):
            continue  # a bound of the program: a table that has no more rows
        has_few = any(each < TAKEN_FOR for each in row.values())
        if length < 0 and not (has_few and is_of_numbers):
            return True
        if (not has_few or is_of_others) and length != length_of_slice(size, start, end, step):
            return True
    return False


def _is_within(bound: int | None, size: int) -> bool:
    return bound is None or -size <= bound <= size or bound >= sys.maxsize


def _note(node: torch.fx.Node) -> Diagnostic:
    return warning_of(
        node,
        "aten::slice.Tensor",
        f"a slice ({node.name}) may begin or end past the end of a dynamic dimension",
        "what the model computes of such sizes is not in the model",
        "bound the slice by the dimension's own size, as in x[:, : min(n, x.shape[1])]",
    )

"""Example inputs of other sizes, within the ranges that were declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._capture.meta_tracer.symbolic.relations import at_sizes
from sardonyx._capture.shapes.dim_names import named_inputs
from sardonyx._capture.shapes.dim_spec import SCALAR, ConstantDimPolicy, Leaf, size_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Inputs = tuple[tuple[Any, ...], dict[str, Any]]
# Sizes of each tensor's axes, by the leaf's place.
_Axes = list[dict[int, Any]]
# Of a size in the example and the symbol's place, so that no two sizes are equal by chance.
_OTHERS: tuple[Callable[[int, int], int], ...] = (
    lambda size, place: size + 1 + place,
    lambda size, place: 2 * size + 3 + place,
    lambda *_: 1,
    lambda *_: 0,
)
_MAX_ELEMENTS = 1 << 24


def inputs_of_other_sizes(
    program: ExportedProgram, example: Inputs, leaves: Sequence[Leaf]
) -> Iterator[tuple[dict[str, int], Inputs]]:
    """A few, each with the sizes by symbol ("s77"): one more than the example's, about twice as
    many, 1 and 0 where these are allowed."""
    from sardonyx._torch_private import pytree

    if not leaves:
        return
    values, spec = pytree.tree_flatten(example)
    axes, bounds = _symbolic_axes(program, leaves)
    known = _example_sizes(axes, values)
    if not known or len(axes) != len(values):
        return
    seen = [known]
    for choose in _OTHERS:
        row = {
            symbol: _within(choose(size, i), *bounds[symbol])
            for i, (symbol, size) in enumerate(known.items())
        }
        if row in seen:
            continue
        seen.append(row)
        resized = _resized(values, axes, row)
        if resized is not None:
            yield (
                {str(symbol): size for symbol, size in row.items()},
                pytree.tree_unflatten(resized, spec),
            )


def _symbolic_axes(
    program: ExportedProgram, leaves: Sequence[Leaf]
) -> tuple[_Axes, dict[Any, tuple[int, int | None]]]:
    """The expressions of the sizes that may be others, and the least and the most that the user
    lets symbols be: nobody says of a name that 0 is meant, too."""
    axes: _Axes = []
    bounds: dict[Any, tuple[int, int | None]] = {}
    for _, value, leaf in named_inputs(program, leaves):
        found = {}
        for axis, wanted in leaf.dims.items():
            size: Any = None if axis == SCALAR else size_of(value, axis)
            if hasattr(size, "node"):
                expression = found[axis] = size.node.expr
                if expression.is_symbol:
                    must = wanted.policy is ConstantDimPolicy.MUST_VARY and wanted.name is not None
                    allowed = wanted.least if must else max(wanted.least, 1)
                    known, _ = bounds.get(expression, (0, None))
                    bounds[expression] = max(known, allowed), wanted.most
        axes.append(found)
    return axes, bounds


def _example_sizes(axes: _Axes, values: Sequence[Any]) -> dict[Any, int]:
    return {
        expression: int(value.shape[axis])
        for each, value in zip(axes, values, strict=False)
        for axis, expression in each.items()
        if expression.is_symbol and hasattr(value, "shape")
    }


def _within(size: int, least: int, most: int | None) -> int:
    size = max(size, least)
    return size if most is None else min(size, most)


def _resized(values: Sequence[Any], axes: _Axes, row: Mapping[Any, int]) -> list[Any] | None:
    """The tensors with other sizes, made of the example's rows; None where that is not possible."""
    import torch

    made: list[Any] = []
    for value, each in zip(values, axes, strict=True):
        resized = value
        for axis, expression in each.items():
            size = at_sizes(expression, row)
            if (
                size is None
                or not size.is_Integer
                or size < 0
                or not isinstance(value, torch.Tensor)
            ):
                return None
            have = resized.shape[axis]
            if int(size) and not have:
                return None
            rows = torch.arange(int(size)) % max(have, 1)
            resized = resized.index_select(axis, rows)
            if resized.numel() > _MAX_ELEMENTS:
                return None
        made.append(resized)
    return made


def labels_of_sizes(program: ExportedProgram, leaves: Sequence[Leaf]) -> dict[str, str]:
    """What the sizes are of: "s77" to "x.shape[0]"."""
    found: dict[str, str] = {}
    for name, value, leaf in named_inputs(program, leaves):
        for axis in leaf.dims:
            if axis != SCALAR:
                found.setdefault(str(size_of(value, axis)), f"{name}.shape[{axis}]")
    return found

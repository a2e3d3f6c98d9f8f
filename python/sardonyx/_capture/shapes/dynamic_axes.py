"""`dynamic_axes` of the older exporter as dynamic_shapes."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import SpecializationWarning, usage_error

from .axes import axes_from_front
from .dynamic_shapes import bound_inputs, shaped_like

if TYPE_CHECKING:
    import torch


def from_dynamic_axes(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_axes: Mapping[str, Any],
    *,
    input_names: Sequence[str],
    output_names: Sequence[str],
    lenient: bool = False,
) -> Any:
    """`dynamic_axes` of the older exporter as `dynamic_shapes` with strings.

    Its keys are entries of `input_names`, or names of forward()'s parameters; those of outputs
    follow from the inputs. A list of axes gives them the names `<input>_dim_<axis>`. Raises
    UsageError for a key that is neither (`lenient`: warns, as the older exporter does), and for an
    axis that the input does not have.
    """
    from sardonyx._torch_private import pytree

    bound = bound_inputs(model, args, kwargs)
    spec = pytree.tree_structure(tuple(bound.values()))
    keys: list[str | None] = []
    for name, value in bound.items():
        leaves = pytree.tree_leaves(value)
        keys += [name if len(leaves) == 1 else None] * len(leaves)
    values = pytree.tree_leaves(tuple(bound.values()))
    tensors = [i for i, value in enumerate(values) if value is not None]
    for index, name in zip(tensors, input_names, strict=False):
        keys[index] = name
    unknown = set(dynamic_axes) - set(keys) - set(output_names)
    if unknown:
        sure = bool(output_names or not input_names)
        _report_unknown(unknown, [key for key in keys if key], sure=sure, lenient=lenient)
    leaves = [
        _axes(name, dynamic_axes.get(name), value) if name else None
        for name, value in zip(keys, values, strict=True)
    ]
    if all(leaf is None for leaf in leaves):
        return None
    return dict(zip(bound, shaped_like(spec, leaves), strict=True))


def _report_unknown(
    unknown: Collection[str], inputs: Sequence[str], *, sure: bool, lenient: bool
) -> None:
    """UsageError; where it is not sure, since outputs have no names yet, a warning."""
    message = f"dynamic_axes names {', '.join(map(repr, sorted(unknown)))}"
    if sure and lenient:
        warnings.warn(
            f"{message}, which are neither inputs nor outputs: no dimension is dynamic by them",
            SpecializationWarning,
            stacklevel=2,
        )
        return
    if sure:
        raise usage_error(
            f"{message}, which are neither inputs nor outputs",
            f"the inputs are {', '.join(map(repr, inputs))}; input_names renames them",
        )
    warnings.warn(
        f"{message}, which are no inputs: taken for outputs, whose sizes follow from the inputs'",
        stacklevel=2,
    )


def _axes(name: str, axes: Any, value: Any) -> dict[int, str] | None:
    if axes is None:
        return None
    named = axes if isinstance(axes, Mapping) else dict.fromkeys(axes)
    wrong = [dim for dim in named.values() if dim is not None and not isinstance(dim, str)]
    if wrong:
        raise usage_error(f"dynamic_axes calls a dimension of '{name}' {wrong[0]!r}, no string")
    counted = axes_from_front({int(axis): dim for axis, dim in named.items()}, value, name)
    return {axis: dim or f"{name}_dim_{axis}" for axis, dim in counted.items()}

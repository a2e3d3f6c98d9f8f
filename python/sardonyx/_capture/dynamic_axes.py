"""`dynamic_axes` of the older exporter as dynamic_shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import usage_error

from .shapes import bound_inputs, shaped_like

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
) -> Any:
    """`dynamic_axes` of the older exporter as `dynamic_shapes` with strings.

    Its keys are entries of `input_names`, or names of forward()'s parameters; those of outputs
    follow from the inputs. A list of axes gives them the names `<input>_dim_<axis>`. Raises
    UsageError for a key that is neither.
    """
    from torch.utils import _pytree as pytree

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
    # Without output_names, a key may be meant for an output whose name is not known yet.
    if unknown and (output_names or not input_names):
        raise usage_error(
            f"dynamic_axes names {', '.join(map(repr, sorted(unknown)))}, "
            "which are neither inputs nor outputs"
        )
    leaves = [_axes(name, dynamic_axes.get(name)) if name else None for name in keys]
    shaped = shaped_like(spec, leaves)
    return dict(zip(bound, shaped, strict=True)) if shaped is not None else None


def _axes(name: str, axes: Any) -> dict[int, str] | None:
    if axes is None:
        return None
    if isinstance(axes, Mapping):
        return {int(axis): dim or f"{name}_dim_{axis}" for axis, dim in axes.items()}
    return {int(axis): f"{name}_dim_{axis}" for axis in axes}

"""Which dimensions vary, in every form that users say it, and what they call them.

Three forms come in: `dynamic_shapes` as torch.export takes it, the same with plain strings for
dimensions, and `dynamic_axes` of the older exporter. One form goes to torch.export; the names are
kept beside it, a dictionary `axis -> name` for each leaf of the inputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import usage_error
from sardonyx._base.torch_versions import children_of

if TYPE_CHECKING:
    import torch
    from torch.utils._pytree import TreeSpec

# Of one leaf: the names of its dimensions by axis. Axis -1 names an integer input itself.
Names = dict[int, str]
SCALAR = -1


@dataclass(frozen=True)
class DynamicShapes:
    """What torch.export is told, and the names of each leaf of (args, kwargs), in order.

    `relaxed` lets torch.export make constant, or equal, what it must.
    """

    shapes: Any
    names: tuple[Names, ...]
    relaxed: Any = None

    @property
    def any_dynamic(self) -> bool:
        return self.shapes is not None


def bound_inputs(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by the name of forward()'s parameter, as torch.export matches shapes to them.

    Raises UsageError when forward() does not take such arguments.
    """
    try:
        return dict(inspect.signature(model.forward).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise usage_error(
            f"forward() of {type(model).__name__} does not take these arguments: {error}",
            "pass the inputs as forward() takes them, in args and kwargs",
        ) from error


def prepare(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
) -> DynamicShapes:
    """`dynamic_shapes` for torch.export, plain strings replaced; and the dimensions' names."""
    from torch.utils import _pytree as pytree

    if dynamic_shapes is None:
        return DynamicShapes(None, ())
    bound = bound_inputs(model, args, kwargs)
    given = _by_parameter(dynamic_shapes, bound)
    names: dict[str, list[Names]] = {}
    shapes: dict[str, Any] = {}
    relaxed: dict[str, Any] = {}
    for name, value in bound.items():
        spec = pytree.tree_structure(value)
        leaves = leaves_of(spec, given.get(name), name)
        names[name] = [_names_of(leaf) for leaf in leaves]
        shapes[name] = shaped_like(spec, [_for_export(leaf, _dim) for leaf in leaves])
        relaxed[name] = shaped_like(spec, [_for_export(leaf, _relaxed_dim) for leaf in leaves])
    return DynamicShapes(shapes, tuple(_in_call_order(model, args, kwargs, names)), relaxed)


def _by_parameter(dynamic_shapes: Any, bound: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(dynamic_shapes, Mapping):
        unknown = [name for name in dynamic_shapes if name not in bound]
        # A mapping for the contents of **kwargs, or one that leaves out what is static.
        for parameter, value in bound.items():
            if unknown and isinstance(value, Mapping) and set(unknown) <= set(value):
                inner = {name: dynamic_shapes[name] for name in unknown}
                kept = {k: v for k, v in dynamic_shapes.items() if k not in inner}
                return {**kept, parameter: inner}
        dropped = [name for name in unknown if dynamic_shapes[name] is not None]
        if dropped:
            raise usage_error(
                f"dynamic_shapes names {', '.join(map(repr, dropped))}, "
                f"but the inputs are {', '.join(map(repr, bound))}"
            )
        return {k: v for k, v in dynamic_shapes.items() if k in bound}
    if isinstance(dynamic_shapes, Sequence) and not isinstance(dynamic_shapes, str):
        if len(dynamic_shapes) > len(bound):
            raise usage_error(
                f"dynamic_shapes holds {len(dynamic_shapes)} entries for {len(bound)} inputs"
            )
        return dict(zip(bound, dynamic_shapes, strict=False))
    raise usage_error(f"dynamic_shapes is a {type(dynamic_shapes).__name__}, not a dict or tuple")


def leaves_of(spec: TreeSpec, shapes: Any, where: str) -> list[Any]:
    """`shapes`, structured as `spec` is, flattened: one entry a leaf; None covers a whole subtree.

    Classes registered with pytree (caches, data classes) are said as a list or dict of their
    children. Raises UsageError where the structures differ.
    """
    if shapes is None:
        return [None] * spec.num_leaves
    if spec.is_leaf():
        return [shapes]
    children = children_of(spec)
    if isinstance(shapes, Mapping):
        keys = _keys(spec)
        if set(shapes) - set(keys):
            raise usage_error(f"dynamic_shapes of {where} has keys {list(shapes)}, not {keys}")
        parts = [shapes.get(key) for key in keys]
    elif isinstance(shapes, Sequence) and not isinstance(shapes, str):
        if len(shapes) != len(children):
            raise usage_error(
                f"dynamic_shapes of {where} has {len(shapes)} entries for {len(children)} values"
            )
        parts = list(shapes)
    else:
        raise usage_error(f"dynamic_shapes of {where} is {shapes!r}, and {where} is a structure")
    result: list[Any] = []
    for index, (child, part) in enumerate(zip(children, parts, strict=True)):
        result += leaves_of(child, part, f"{where}[{index}]")
    return result


def _keys(spec: TreeSpec) -> list[Any]:
    context = spec.context
    if isinstance(context, (list, tuple)):  # of dict; of OrderedDict and defaultdict too, nested
        keys = context[-1] if context and isinstance(context[-1], (list, tuple)) else context
        return list(keys)
    fields = getattr(context, "_fields", None)  # of a named tuple
    return list(fields) if fields else list(range(len(children_of(spec))))


def shaped_like(spec: TreeSpec, leaves: list[Any]) -> Any:
    """The leaves in dicts, tuples and lists as torch.export wants shapes of `spec` to be."""
    if all(leaf is None for leaf in leaves):
        return None
    if spec.is_leaf():
        return leaves[0]
    parts = []
    start = 0
    for child in children_of(spec):
        parts.append(shaped_like(child, leaves[start : start + child.num_leaves]))
        start += child.num_leaves
    if spec.type is dict or (isinstance(spec.type, type) and issubclass(spec.type, dict)):
        return dict(zip(_keys(spec), parts, strict=True))
    return tuple(parts) if spec.type is tuple else parts


def _for_export(leaf: Any, dim_of: Callable[[Any], Any]) -> Any:
    if isinstance(leaf, Mapping):
        return {axis: dim_of(dim) for axis, dim in leaf.items()} or None
    if isinstance(leaf, (list, tuple)):
        return [dim_of(dim) for dim in leaf]
    return dim_of(leaf)


def _dim(dim: Any) -> Any:
    from torch.export import Dim

    return Dim.DYNAMIC if isinstance(dim, str) else dim


def _relaxed_dim(dim: Any) -> Any:
    from torch.export import Dim

    return dim if dim is None or isinstance(dim, int) or dim is Dim.STATIC else Dim.AUTO


def _names_of(leaf: Any) -> Names:
    if isinstance(leaf, Mapping):
        items: Iterable[tuple[Any, Any]] = leaf.items()
    elif isinstance(leaf, (list, tuple)):
        items = enumerate(leaf)
    else:
        items = ((SCALAR, leaf),)
    return {axis: name for axis, dim in items if (name := _name(dim)) is not None}


def _name(dim: Any) -> str | None:
    """What the user calls a dimension; None for a hint, a number, or an expression of others."""
    if isinstance(dim, str):
        return dim
    name = getattr(dim, "__name__", None)
    return name if isinstance(name, str) and name.isidentifier() else None


def _in_call_order(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    names: Mapping[str, list[Names]],
) -> list[Names]:
    """The names of each parameter's leaves in the order of the leaves of (args, kwargs)."""
    bound = inspect.signature(model.forward).bind(*args, **kwargs)
    parameters = bound.signature.parameters
    inner: dict[str, list[Names]] = dict(names)
    for name, parameter in parameters.items():
        # The leaves of **kwargs, taken apart by key.
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and name in bound.arguments:
            from torch.utils import _pytree as pytree

            rest = list(inner.pop(name))
            for key, value in bound.arguments[name].items():
                count = pytree.tree_structure(value).num_leaves
                inner[key], rest = rest[:count], rest[count:]
    by_keyword = [leaf for key in kwargs for leaf in inner.pop(key)]
    return [leaf for leaves in inner.values() for leaf in leaves] + by_keyword

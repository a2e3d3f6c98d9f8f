"""Which dimensions vary, in every form that users say it, and what they call them.

There are three forms: `dynamic_shapes` as torch.export takes it, the same with plain strings for
dimensions, and `dynamic_axes` of the older exporter. One form goes to torch.export. The names are
kept separately, for each leaf of the inputs.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import usage_error
from sardonyx._capture.patches.keywords import call_signature, collected
from sardonyx._torch_private.pytree import children_of

from .axes import axes_from_front
from .dim_spec import (
    Leaf,
    check_names,
    check_ranges,
    in_call_order,
    is_special,
    size_of,
    sources_of,
    wanted_of,
)

if TYPE_CHECKING:
    import torch

    from sardonyx._torch_private.pytree import TreeSpec


@dataclass(frozen=True)
class DynamicShapes:
    """What torch.export gets, and what the user wants of each leaf of (args, kwargs), in order.

    `relaxed` lets torch.export specialize dimensions, or make them equal, where it must.
    `above_one` are `shapes` without those that are 0 or 1 in the example and that the user leaves
    to the model: torch.export makes these constant. None where there are none.
    `without` makes `shapes` without some dynamic dimensions, each the source of its leaf and the
    axis.
    """

    shapes: Any
    leaves: tuple[Leaf, ...]
    relaxed: Any = None
    above_one: Any = None
    without: Callable[[Collection[tuple[str, int]]], Any] = lambda _: None

    @property
    def any_dynamic(self) -> bool:
        return self.shapes is not None

    @property
    def may_be_empty(self) -> bool:
        """Whether a size may be 0."""
        return any(leaf.may_be_empty for leaf in self.leaves)

    def leaves_above_one(self, inputs: Any) -> tuple[Leaf, ...]:
        """What is wanted of the dimensions in `above_one`, for inputs (args, kwargs)."""
        from sardonyx._torch_private import pytree

        values = pytree.tree_leaves(inputs)
        return tuple(leaf.above_one(value) for leaf, value in zip(self.leaves, values, strict=True))


def bound_inputs(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by the name of forward()'s parameter, and those that it collects in **kw by
    their own.

    Raises UsageError when forward() does not take such arguments.
    """
    signature = call_signature(model.forward, kwargs)
    try:
        bound = dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise usage_error(
            f"forward() of {type(model).__name__} does not take these arguments: {error}",
            "pass the inputs as forward() takes them, in args and kwargs",
        ) from error
    if (rest := collected(signature)) in bound:
        raise usage_error(
            f"forward() of {type(model).__name__} collects {', '.join(map(repr, bound[rest]))} in "
            f"**{rest}, where one is no name of a parameter, or that of a positional one",
            "rename it, and have forward() take it by that name",
        )
    return bound


def prepare(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
) -> DynamicShapes:
    """`dynamic_shapes` for torch.export, plain strings replaced; and what is wanted. "auto" lets
    every dimension of every tensor vary that the model lets.

    UsageError for shapes that are not the arguments', for one name of several sizes, and for
    examples outside of the range that a dimension has.
    """
    from sardonyx._torch_private import pytree

    if dynamic_shapes is None:
        return DynamicShapes(None, ())
    bound = bound_inputs(model, args, kwargs)
    every = dynamic_shapes == "auto"
    given = {} if every else _by_parameter(_gathered(dynamic_shapes, model, bound), model, bound)
    wanted: dict[str, list[Leaf]] = {}
    shapes: dict[str, Any] = {}
    relaxed: dict[str, Any] = {}
    above_one: dict[str, Any] = {}
    hints: dict[str, tuple[TreeSpec, list[str], list[Any]]] = {}
    for name, value in bound.items():
        spec = pytree.tree_structure(value)
        leaves = _all_free(value) if every else leaves_of(spec, given.get(name), name)
        sources = sources_of(name, value)
        labels = [Leaf(source, {}).label for source in sources]
        values = pytree.tree_leaves(value)
        leaves = [_counted(*each) for each in zip(leaves, values, labels, strict=True)]
        made = [Leaf(s, wanted_of(leaf)) for s, leaf in zip(sources, leaves, strict=True)]
        wanted[name] = [each.left_to_model() for each in made] if every else made
        shapes[name] = shaped_like(spec, [_for_export(leaf, _dim) for leaf in leaves])
        relaxed[name] = shaped_like(spec, [_for_export(leaf, _relaxed_dim) for leaf in leaves])
        hints[name] = spec, sources, leaves
        larger = [_for_export(_above_one(*each), _dim) for each in zip(leaves, values, strict=True)]
        above_one[name] = shaped_like(spec, larger)
    ordered = tuple(in_call_order(model, args, kwargs, wanted))
    examples = pytree.tree_leaves((args, dict(kwargs)))
    check_names(ordered, examples)
    check_ranges(ordered, examples)

    def without(dims: Collection[tuple[str, int]]) -> dict[str, Any]:
        return {
            name: shaped_like(
                spec,
                [
                    _for_export(_without(leaf, {a for s, a in dims if s == source}), _dim)
                    for source, leaf in zip(sources, leaves, strict=True)
                ],
            )
            for name, (spec, sources, leaves) in hints.items()
        }

    larger_alone = None if above_one == shapes else above_one
    return DynamicShapes(shapes, ordered, relaxed, larger_alone, without)


def _without(shape: Any, axes: set[int]) -> Any:
    """The entry of one leaf without these axes."""
    if isinstance(shape, Mapping):
        return {axis: dim for axis, dim in shape.items() if axis not in axes}
    if isinstance(shape, (list, tuple)):
        return [None if axis in axes else dim for axis, dim in enumerate(shape)]
    return shape


def _all_free(value: Any) -> list[Any]:
    """Hints for all dimensions of the tensors among the leaves."""
    import torch

    from sardonyx._torch_private import pytree

    return [
        dict.fromkeys(range(leaf.dim()), torch.export.Dim.AUTO)
        if isinstance(leaf, torch.Tensor) and leaf.dim()
        else None
        for leaf in pytree.tree_leaves(value)
    ]


def _gathered(dynamic_shapes: Any, model: torch.nn.Module, bound: Mapping[str, Any]) -> Any:
    """`dynamic_shapes` with those of forward()'s *args in one entry, as torch.export has it, where
    they stand one by one, as the arguments do."""
    parameters = inspect.signature(model.forward).parameters.values()
    rest = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL and p.name in bound]
    is_sequence = isinstance(dynamic_shapes, Sequence) and not isinstance(dynamic_shapes, str)
    if not rest or not is_sequence:
        return dynamic_shapes
    before, count = list(bound).index(rest[0]), len(bound[rest[0]])
    own = list(dynamic_shapes[before : before + count])
    if count == 1 and own:
        one_by_one = _says_dims(own[0])
    else:
        one_by_one = len(own) == count and len(dynamic_shapes) > len(bound)
    if not one_by_one:
        return dynamic_shapes
    return [*dynamic_shapes[:before], own, *dynamic_shapes[before + count :]]


def _says_dims(shapes: Any) -> bool:
    """Whether they are of one tensor, by axis."""
    return isinstance(shapes, Mapping) and not any(
        isinstance(each, (Mapping, list, tuple)) for each in shapes.values()
    )


def _by_parameter(
    dynamic_shapes: Any, model: torch.nn.Module, bound: Mapping[str, Any]
) -> dict[str, Any]:
    signature = inspect.signature(model.forward)
    rest = collected(signature)
    in_rest = [name for name in bound if name not in signature.parameters] if rest else []
    if isinstance(dynamic_shapes, Mapping):
        shapes = dict(dynamic_shapes)
        if rest in shapes and rest not in bound:
            shapes |= _of_keywords(shapes.pop(rest), in_rest, rest)
        dropped = [name for name in shapes if name not in bound and shapes[name] is not None]
        if dropped:
            raise usage_error(
                f"dynamic_shapes names {', '.join(map(repr, dropped))}, "
                f"but the inputs are {', '.join(map(repr, bound))}"
            )
        return {k: v for k, v in shapes.items() if k in bound}
    if isinstance(dynamic_shapes, Sequence) and not isinstance(dynamic_shapes, str):
        before = len(bound) - len(in_rest)
        if in_rest and len(dynamic_shapes) == before + 1:
            # torch.export has one entry for all of **kw.
            last = dynamic_shapes[before]
            if isinstance(last, Mapping) and set(last) <= set(in_rest):
                return {**dict(zip(bound, dynamic_shapes[:before], strict=False)), **last}
        if len(dynamic_shapes) > len(bound):
            raise usage_error(
                f"dynamic_shapes holds {len(dynamic_shapes)} entries for {len(bound)} inputs"
            )
        return dict(zip(bound, dynamic_shapes, strict=False))
    raise usage_error(
        f"dynamic_shapes is a {type(dynamic_shapes).__name__}, not a dict or tuple",
        'name dimensions: {"x": {0: "batch"}}; "auto" is the only string',
    )


def _of_keywords(shapes: Any, known: Sequence[str], rest: str | None) -> dict[str, Any]:
    """The entry of dynamic_shapes for all that forward() collects in **rest, by keyword."""
    if shapes is None:
        return {}
    if not isinstance(shapes, Mapping) or not set(shapes) <= set(known):
        raise usage_error(
            f"dynamic_shapes of {rest} is {shapes!r}, and **{rest} has {', '.join(known) or 'none'}"
        )
    return dict(shapes)


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
    """The leaves in dicts, tuples and lists as torch.export wants shapes of `spec` to be: it takes
    no None for a whole structure."""
    if spec.is_leaf():
        return leaves[0]
    parts = []
    start = 0
    for child in children_of(spec):
        parts.append(shaped_like(child, leaves[start : start + child.num_leaves]))
        start += child.num_leaves
    if spec.type in (dict, OrderedDict, defaultdict):  # any other class of dictionaries is a list
        return dict(zip(_keys(spec), parts, strict=True))
    if hasattr(spec.context, "_fields"):  # the class of a named tuple
        return spec.context(*parts)
    return tuple(parts) if spec.type is tuple else parts


def _counted(leaf: Any, value: Any, label: str) -> Any:
    """The entry of a leaf with its axes counted from the front."""
    if isinstance(leaf, Mapping) and all(isinstance(axis, int) for axis in leaf):
        leaf = axes_from_front(leaf, value, label)
        _check_numbers(leaf, value, label)
    return leaf


def _check_numbers(dims: Mapping[int, Any], value: Any, label: str) -> None:
    """UsageError for a size that is declared as a number which is not the example's."""
    for axis, dim in dims.items():
        is_number = isinstance(dim, int) and not isinstance(dim, (bool, Enum))
        if is_number and hasattr(value, "shape") and dim != (size := size_of(value, axis)):
            raise usage_error(
                f"dynamic_shapes has {dim} for dimension {axis} of {label}, and the example {size}",
                'a name makes it dynamic: {0: "batch"}',
            )


def _above_one(leaf: Any, value: Any) -> Any:
    """The entry of a leaf without the automatic dimensions that are 0 or 1 in the example."""
    from torch.export import Dim

    if not isinstance(leaf, Mapping):
        return leaf
    return {
        axis: dim
        for axis, dim in leaf.items()
        if dim is not Dim.AUTO or not is_special(size_of(value, axis))
    }


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

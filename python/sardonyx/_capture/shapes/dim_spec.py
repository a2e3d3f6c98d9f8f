"""What the user says of each dimension of the inputs: its name, and how much it has to vary."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sardonyx._base.errors import usage_error
from sardonyx._capture.patches.keywords import call_signature

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

# The axis of an integer input itself.
SCALAR = -1
# Captures take a free size for at least this: 0 and 1 are special to PyTorch.
TAKEN_FOR = 2


class ConstantDimPolicy(enum.Enum):
    """What happens where the model makes a dimension constant."""

    MUST_VARY = "refused"  # Dim.DYNAMIC and Dim("batch"), as torch.export has it
    SHOULD_VARY = "warned of"  # "batch", and dynamic_axes
    LEFT_TO_MODEL = "warned of, too"  # Dim.AUTO
    MAY_VARY = "noted"  # "auto", which is said of all dimensions

    @property
    def is_left_to_model(self) -> bool:
        """Whether nobody asked for the dimension."""
        return self in (ConstantDimPolicy.LEFT_TO_MODEL, ConstantDimPolicy.MAY_VARY)


class NonEmptyDim(str):
    """The name of a dimension that is at least 1."""

    __slots__ = ()
    min = 1


class DimRequest(NamedTuple):
    """What the user asks of a dimension.

    `name` is None for a hint, or an expression of another dimension, whose name is `root`;
    `least` and `most` are the sizes that the user said, `most` None where nothing bounds them."""

    name: str | None
    policy: ConstantDimPolicy
    root: str | None = None
    least: int = 0
    most: int | None = None


def is_special(size: Any) -> bool:
    """Whether torch.export makes an automatic dimension constant for its size in the example."""
    return isinstance(size, int) and size < TAKEN_FOR


@dataclass(frozen=True)
class Leaf:
    """A leaf of the inputs: how torch.export calls it ("L['pair'][0]"; empty where nothing tells),
    and what is wanted of its dimensions, by axis."""

    source: str
    dims: dict[int, DimRequest]

    def left_to_model(self) -> Leaf:
        """The same where nobody asked for any one of its dimensions."""
        dims = {k: v._replace(policy=ConstantDimPolicy.MAY_VARY) for k, v in self.dims.items()}
        return Leaf(self.source, dims)

    def above_one(self, value: Any) -> Leaf:
        """The same without the automatic dimensions that are 0 or 1 in the example."""
        kept = {
            axis: wanted
            for axis, wanted in self.dims.items()
            if axis == SCALAR
            or not wanted.policy.is_left_to_model
            or not is_special(size_of(value, axis))
        }
        return Leaf(self.source, kept)

    @property
    def may_be_empty(self) -> bool:
        """Whether one of its dimensions may be 0."""
        return any(wanted.least == 0 for wanted in self.dims.values())

    @property
    def label(self) -> str:
        """ "pair[0]"."""
        return self.source.removeprefix("L['").replace("']", "", 1) or "an input"

    def source_of(self, axis: int) -> str:
        """How torch.export calls the size of an axis."""
        return self.source if axis == SCALAR else f"{self.source}.size()[{axis}]"


def wanted_of(shape: Any) -> dict[int, DimRequest]:
    """Of the entry of dynamic_shapes for one leaf."""
    if isinstance(shape, Mapping):
        items: Iterable[tuple[Any, Any]] = shape.items()
    elif isinstance(shape, (list, tuple)):
        items = enumerate(shape)
    else:
        items = ((SCALAR, shape),)
    return {axis: wanted for axis, dim in items if (wanted := _wanted(dim)) is not None}


def _wanted(dim: Any) -> DimRequest | None:
    if isinstance(dim, str):
        return DimRequest(dim, ConstantDimPolicy.SHOULD_VARY, None, *_bounds(dim))
    name = getattr(dim, "__name__", None)
    if isinstance(name, str):
        root = getattr(getattr(dim, "root", None), "__name__", None)  # of 2 * Dim("half")
        known = name if name.isidentifier() else None
        return DimRequest(known, ConstantDimPolicy.MUST_VARY, root, *_bounds(dim))
    hint = getattr(getattr(dim, "type", None), "name", None)  # of Dim.DYNAMIC and its like
    policy = {
        "DYNAMIC": ConstantDimPolicy.MUST_VARY,
        "AUTO": ConstantDimPolicy.LEFT_TO_MODEL,
    }.get(hint or "")
    return None if policy is None else DimRequest(None, policy, None, *_bounds(dim))


def _bounds(dim: Any) -> tuple[int, int | None]:
    """The least and the most that a Dim, a name or a hint is said to be; a Dim without end has an
    infinity, or sys.maxsize - 1, for the latter."""
    least, most = getattr(dim, "min", None), getattr(dim, "max", None)
    ends = isinstance(most, int) and most < sys.maxsize - 1
    return least if isinstance(least, int) else 0, most if ends else None


def sources_of(name: str, value: Any) -> list[str]:
    """How torch.export calls the leaves of the parameter `name`."""
    from sardonyx._torch_private import pytree

    try:
        found, _ = pytree.tree_flatten_with_path(value)
    except ValueError:  # of a class that is registered without keys
        return [""] * pytree.tree_structure(value).num_leaves
    return [f"L['{name}']{pytree.keystr(path)}" for path, _ in found]


def in_call_order(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    leaves: Mapping[str, list[T]],
) -> list[T]:
    """What is known of the leaves of each parameter, in the order of those of (args, kwargs)."""
    bound = call_signature(model.forward, kwargs).bind(*args, **kwargs)
    inner = {name: list(leaves[name]) for name in bound.arguments}
    by_keyword = [leaf for key in kwargs for leaf in inner.pop(key)]
    return [leaf for each in inner.values() for leaf in each] + by_keyword


def check_names(leaves: Sequence[Leaf], values: Sequence[Any]) -> None:
    """UsageError for dimensions of one name that are of several sizes in the example."""
    seen: dict[str, tuple[str, int]] = {}
    for wanted, label, size in _sizes(leaves, values):
        if wanted.name is None:
            continue
        before, known = seen.setdefault(wanted.name, (label, size))
        if size != known:
            raise usage_error(
                f"{before} and {label} are both called '{wanted.name}', "
                f"and the example has {known} and {size} there",
                "give dimensions that may differ a name each, or make the example agree",
            )


def check_ranges(leaves: Sequence[Leaf], values: Sequence[Any]) -> None:
    """UsageError for dimensions whose size in the example is not in the range that they have."""
    for wanted, label, size in _sizes(leaves, values):
        if size < wanted.least or (wanted.most is not None and size > wanted.most):
            end = "" if wanted.most is None else str(wanted.most)
            name = "a dynamic dimension" if wanted.name is None else f"'{wanted.name}'"
            raise usage_error(
                f"{label} is {name} with sizes {wanted.least}..{end}, and the example has {size}",
                "give an example within the range, or declare a range that has the example's size",
            )


def _sizes(leaves: Sequence[Leaf], values: Sequence[Any]) -> Iterator[tuple[DimRequest, str, int]]:
    for leaf, value in zip(leaves, values, strict=False):
        for axis, wanted in leaf.dims.items():
            size = value if axis == SCALAR else size_of(value, axis)
            if isinstance(size, int) and not isinstance(size, bool):
                where = leaf.label if axis == SCALAR else f"dimension {axis} of {leaf.label}"
                yield wanted, where, size


def size_of(value: Any, axis: int) -> Any:
    """One size of a tensor; None where it has no such axis. UsageError for what counts none."""
    if not isinstance(axis, int):
        raise usage_error(f"dimensions are counted by integers, and {axis!r} is none")
    shape = getattr(value, "shape", ())
    return shape[axis] if -len(shape) <= axis < len(shape) else None

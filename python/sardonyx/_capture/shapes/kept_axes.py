"""Axes that squeeze() keeps in a captured program, since their sizes are dynamic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.shapes.dim_names import named_inputs
from sardonyx._capture.shapes.dim_spec import SCALAR, Leaf
from sardonyx._capture.strategies.strategies import FixedSizeError

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


class SqueezedAxisError(FixedSizeError):
    """Axes are kept that PyTorch removes for the example.

    Attributes:
        dims: the dimensions that the sizes of the axes are made of, by the source of their leaf
            (`Leaf.source`) and axis, where the model may decide whether these vary. Empty where the
            user said of one that it does.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], dims: frozenset[tuple[str, int]]) -> None:
        super().__init__(diagnostics)
        self.dims = dims


class KeptAxis(NamedTuple):
    """An axis that squeeze() is asked to remove if its size is 1."""

    node: torch.fx.Node
    axis: int
    size: torch.SymInt
    is_one: bool  # in the example: the program is wrong for it


def kept_axes(program: ExportedProgram) -> list[KeptAxis]:
    """Those whose size is dynamic."""
    import torch

    aten = torch.ops.aten
    found: list[KeptAxis] = []
    for target in (aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims):
        for node in program.graph.find_nodes(op="call_function", target=target):
            found += _of(node)
    return found


def check_squeezes(
    program: ExportedProgram, leaves: Sequence[Leaf], ones: frozenset[str] = frozenset()
) -> None:
    """SqueezedAxisError where an axis is kept that is 1 in the example: PyTorch removes it.

    `ones` are the symbols of sizes that are 1 in the user's example where the capture ran on
    another one.
    """
    kept = kept_axes(program)
    wrong = [each for each in kept if each.is_one or str(each.size) in ones]
    if wrong:
        raise SqueezedAxisError(list(map(_diagnostic, wrong)), _left_dims(program, leaves, wrong))


def _left_dims(
    program: ExportedProgram, leaves: Sequence[Leaf], kept: Sequence[KeptAxis]
) -> frozenset[tuple[str, int]]:
    symbols = {symbol for each in kept for symbol in each.size.node.expr.free_symbols}
    found: set[tuple[str, int]] = set()
    for _, value, leaf in named_inputs(program, leaves):
        shape = getattr(value, "shape", ())
        for axis, wanted in leaf.dims.items():
            size = value if axis == SCALAR else shape[axis]
            if hasattr(size, "node") and symbols & size.node.expr.free_symbols:
                if axis == SCALAR or not wanted.policy.is_left_to_model:
                    return frozenset()
                found.add((leaf.source, axis))
    return frozenset(found)


def symbols_of_ones(
    program: ExportedProgram, inputs: tuple[Any, Mapping[str, Any]], leaves: Sequence[Leaf]
) -> frozenset[str]:
    """The symbols of dynamic dimensions that are 1 in `inputs`, args and kwargs."""
    from sardonyx._torch_private import pytree

    values, _ = pytree.tree_flatten(inputs)
    found: set[str] = set()
    for value, (_, captured, leaf) in zip(values, named_inputs(program, leaves), strict=False):
        for axis in leaf.dims:
            shape = getattr(value, "shape", ())
            if axis != SCALAR and -len(shape) <= axis < len(shape) and shape[axis] == 1:
                found.add(str(captured.shape[axis]))
    return frozenset(found)


def _of(node: torch.fx.Node) -> Iterator[KeptAxis]:
    given: Any = node.args[0]
    shape = given.meta["val"].shape
    asked: Any = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", range(len(shape)))
    for axis in [asked] if isinstance(asked, int) else asked:
        size = shape[axis] if len(shape) else 0
        if not isinstance(size, int):
            yield KeptAxis(node, axis % len(shape), size, size.node.hint == 1)


def _diagnostic(kept: KeptAxis) -> Diagnostic:
    given: Any = kept.node.args[0]
    return Diagnostic(
        "SX1011",
        f"squeeze() removes axis {kept.axis} of '{given.name}', whose size is 1 in the example, "
        "and a dynamic dimension keeps it",
        help="make the dimension constant, or select(axis, 0); with dynamo=False the model has "
        "either rank",
        op="aten::squeeze",
        node=kept.node.name,
    )

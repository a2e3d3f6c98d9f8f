"""Dimensions of a captured program that the example does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.shapes.dim_names import constant_size, named_inputs
from sardonyx._capture.shapes.dim_spec import SCALAR, Leaf
from sardonyx._capture.shapes.sampled_sizes import number_at
from sardonyx._capture.strategies.strategies import FixedSizeError

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def check_example(
    program: ExportedProgram,
    inputs: tuple[Any, Mapping[str, Any]],
    leaves: Sequence[Leaf],
    equations: Sequence[tuple[Any, Any]],
) -> None:
    """FixedSizeError where a dimension of 1 in `inputs`, args and kwargs, is another constant, or
    equal to a dimension that is not 1, or where the program is one for other sizes.

    A capture that keeps sizes of 1 dynamic takes one that is broadcast for the size that it is
    broadcast to, and the program would reject the example. It also counts the parts of `split()`
    for the size that stands for 1. `equations`: what the program counts on, each with PyTorch's
    environment of sizes.
    """
    wrong = list(_dims_of_one(program, inputs, leaves))
    wrong = wrong or list(_broken(_dims(program, inputs, leaves), equations))
    if wrong:
        raise FixedSizeError(wrong)


def _dims_of_one(
    program: ExportedProgram, inputs: tuple[Any, Mapping[str, Any]], leaves: Sequence[Leaf]
) -> Iterator[Diagnostic]:
    dims = list(_dims(program, inputs, leaves))
    broadcast = {str(size) for _, _, example, size in dims if example != 1}
    for name, axis, example, size in dims:
        constant = constant_size(program, size)
        is_other = str(size) in broadcast if constant is None else constant != 1
        if example == 1 and is_other:
            target = "that of another input" if constant is None else constant
            yield Diagnostic(
                "SX1011",
                f"dimension {axis} of input '{name}' is 1 in the example, and broadcast to "
                f"{target}: it cannot be dynamic",
                help="give an example with another size, or make the dimension constant",
            )


def _broken(
    dims: Iterable[tuple[str, int, int, Any]], equations: Sequence[tuple[Any, Any]]
) -> Iterator[Diagnostic]:
    """Equations that a dimension of 1 in the example breaks."""
    from sardonyx._torch_private import sizes as torch_sizes

    nodes = [(size.node, example) for *_, example, size in dims if hasattr(size, "node")]
    sizes = {node.expr: example for node, example in nodes if node.expr.is_Symbol}
    for relation, env in equations:
        symbols = relation.free_symbols
        if symbols <= sizes.keys() and any(sizes[each] == 1 for each in symbols):
            sides = [number_at(side, sizes) for side in relation.args]
            if None not in sides and sides[0] != sides[1]:
                yield Diagnostic(
                    "SX1011",
                    f"the program holds for sizes with {torch_sizes.named_relation(env, relation)},"
                    " which those of the example are not",
                    help="give an example with no size of 1",
                )


def _dims(
    program: ExportedProgram, inputs: tuple[Any, Mapping[str, Any]], leaves: Sequence[Leaf]
) -> Iterator[tuple[str, int, int, Any]]:
    """The dynamic dimensions: the input's name, the axis, the size in the example and in the
    program."""
    from sardonyx._torch_private import pytree

    values, _ = pytree.tree_flatten(inputs)
    for value, (name, captured, leaf) in zip(values, named_inputs(program, leaves), strict=False):
        shape = getattr(value, "shape", ())
        for axis in leaf.dims:
            if axis != SCALAR and -len(shape) <= axis < len(shape):
                yield name, axis, shape[axis], captured.shape[axis]

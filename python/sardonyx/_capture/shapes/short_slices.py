"""Slices of free sizes that PyTorch's capture takes for 2 and more: x[-2:] of one row has one row,
and the capture says two, whatever range the user gave.

x[:1] of no rows has none, which matters where the size of a slice is read, or the slice written."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._torch_private.operators import is_overload

from .dim_names import named_inputs
from .dim_spec import SCALAR, TAKEN_FOR, Leaf, size_of
from .node_warnings import warning_of
from .sampled_sizes import expression_of, number_at
from .slices import SIZES_READ, length_of_slice, parts_of_slice, slices_in

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

_OTHER = 7  # a size that is not 0


def short_slices(program: ExportedProgram, leaves: Sequence[Leaf], size: int) -> list[Diagnostic]:
    """A warning (SX1015) of each slice whose length is another than the program says where the free
    sizes are `size`: of 0, where the program has elements and there are none, or where it computes
    with a length below 0."""
    free = dict.fromkeys(_free_symbols(program, leaves, size), size)
    slices = [
        (node, parts)
        for node in (slices_in(program.graph) if free else ())
        if (parts := parts_of_slice(node)) is not None
    ]
    found = [node for node, parts in slices if _is_shorter(parts, free)]
    if size == 0 and free:
        lengths = [(node, parts[-1]) for node, parts in slices]
        lengths += _lengths_of_differences(program.graph)
        if below := [each for each in lengths if _is_below_0(each[1], free)]:
            numbers = list(_numbers(program.graph))
            found += [node for node, length in below if _is_read(length, numbers)]
    return [_note(node, size) for node in found]


def short_chunks(program: ExportedProgram, leaves: Sequence[Leaf]) -> list[Diagnostic]:
    """A warning (SX1015) of each chunk() that has fewer parts at sizes of 1 than the program
    reads."""
    import torch

    free = _free_symbols(program, leaves, 1)
    chunks = program.graph.find_nodes(op="call_function", target=torch.ops.aten.chunk.default)
    return [_note_of_chunk(node) for node in chunks if free and _has_fewer(node, free)]


def has_short_results(program: ExportedProgram, leaves: Sequence[Leaf]) -> bool:
    """Whether a diagonal, or factors of a matrix, have other sizes than the program says where free
    sizes are 0 or 1: a capture that takes each size for 1 and more makes 1 of `min(n, 1)`."""
    nodes = [
        node
        for target in _of_lesser_size()
        for node in program.graph.find_nodes(op="call_function", target=target)
        if not _is_difference(node)
    ]
    least = [(size, _free_symbols(program, leaves, size)) for size in (0, 1)] if nodes else []
    return any(_is_short(node, free, size) for size, free in least for node in nodes)


def _is_difference(node: torch.fx.Node) -> bool:
    """Whether it is a difference of neighbours, whose length is looked at where it is read."""
    import torch

    is_repeated = (len(node.args) > 1 and node.args[1] != 1) or node.kwargs.get("n", 1) != 1
    return node.target is torch.ops.aten.diff.default and not is_repeated


@functools.cache
def _of_lesser_size() -> tuple[Any, ...]:
    """The operators whose results are as long as the lesser of two sizes, or one less than one."""
    import torch

    aten = torch.ops.aten
    packets = (
        *(aten.diagonal, aten.diag, aten.diff, aten.cumulative_trapezoid, aten.tensor_split),
        *(aten.linalg_qr, aten.linalg_svd, aten.linalg_svdvals, aten.linalg_lu),
        aten.linalg_lu_factor,
    )
    return tuple(getattr(packet, name) for packet in packets for name in packet.overloads())


def _is_short(node: torch.fx.Node, free: set[Any], size: int) -> bool:
    import torch

    def at(value: Any) -> Any:
        return [_at_least(each, free, size) for each in value.shape]

    inputs = {source: at(source.meta["val"]) for source in node.all_input_nodes}
    results = node.meta["val"]
    captured = list(map(at, results if isinstance(results, (list, tuple)) else (results,)))
    if any(each is None for shape in captured for each in shape):
        return False
    if any(each is None or each < 0 for shape in inputs.values() for each in shape):
        return False  # the program does not run at such sizes

    def empty(source: torch.fx.Node) -> torch.Tensor:
        return torch.empty(inputs[source], dtype=source.meta["val"].dtype, device="meta")

    operator: Any = node.target
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), empty)
    made = operator(*args, **kwargs)
    made = made if isinstance(made, (list, tuple)) else (made,)
    return [list(each.shape) for each in made] != captured


def _at_least(size: Any, free: set[Any], least: int) -> int | None:
    """A size where the free symbols are `least`, and the others larger."""
    expression = expression_of(size)
    symbols = getattr(expression, "free_symbols", ())
    return number_at(expression, {each: least if each in free else _OTHER for each in symbols})


def _has_fewer(node: torch.fx.Node, free: set[Any]) -> bool:
    parts = node.meta["val"]
    dim: Any = node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", 0)
    source: Any = node.args[0]
    size = number_at(expression_of(size_of(source.meta["val"], dim)), dict.fromkeys(free, 1))
    if size is None or not 0 < size <= (len(parts) - 1) ** 2:
        return False
    length = -(-size // len(parts))
    is_fewer = -(-size // length) != len(parts)
    return is_fewer and any(user.args[1:] != (0,) for user in node.users)


def _note_of_chunk(node: torch.fx.Node) -> Diagnostic:
    return warning_of(
        node,
        "aten::chunk",
        f"chunk() ({node.name}) has fewer parts where a dynamic dimension is 1",
        "the model does not run at such sizes",
        "declare Dim('name', min=2), or keep to larger sizes",
    )


def _free_symbols(program: ExportedProgram, leaves: Sequence[Leaf], least: int) -> set[Any]:
    """Those that the user lets be `least`, and that the program bounds no more than any capture
    does."""
    ranges = program.range_constraints
    found: set[Any] = set()
    for _, value, leaf in named_inputs(program, leaves):
        for axis, wanted in leaf.dims.items():
            size = None if axis == SCALAR else size_of(value, axis)
            expression = getattr(getattr(size, "node", None), "expr", None)
            symbol = _symbol_of(expression)
            if symbol is None or wanted.least > least:
                continue
            known = ranges.get(symbol)
            if known is None or known.lower <= TAKEN_FOR:
                found.add(symbol)
    return found


def _symbol_of(size: Any) -> Any:
    """The symbol that a size is, or is a multiple of; None where it is something else."""
    symbols: set[Any] = getattr(size, "free_symbols", set())
    if len(symbols) != 1:
        return None
    (symbol,) = symbols
    return symbol if size in (symbol, size.coeff(symbol) * symbol) else None


def _is_shorter(parts: tuple[Any, ...], sizes: Mapping[Any, int]) -> bool:
    numbers = [number_at(each, sizes) for each in parts]
    if any(each is not None and n is None for each, n in zip(parts, numbers, strict=True)):
        return False
    size, start, end, step, length = numbers
    if size is None or length is None or size < 0:  # the program does not run at such sizes
        return False
    if size == 0:
        return length > 0
    return step != 0 and length != length_of_slice(size, start, end, step)


def _lengths_of_differences(graph: torch.fx.Graph) -> Iterator[tuple[torch.fx.Node, Any]]:
    """The calls of torch.diff(), which slices its tensor, and how long their results are."""
    import torch

    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.diff.default):
        dim = node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", -1)
        yield node, expression_of(size_of(node.meta["val"], dim))


def _is_below_0(length: Any, sizes: Mapping[Any, int]) -> bool:
    number = number_at(length, sizes)
    return number is not None and number < 0


def _numbers(graph: torch.fx.Graph) -> Iterator[Any]:
    """Expressions of the sizes that operators are given as numbers, but for the bounds of slices;
    of those of tensors made like another one, as by `zeros_like`; and of those that the model
    reads, since sympy may leave only another number of them in the graph."""
    import torch

    for node in graph.nodes:
        if node.meta.get(SIZES_READ):
            yield from _sizes(tuple(node.meta["val"].shape))
        elif node.op == "call_function" and not _is_a_bound(node):
            yield from _sizes(node.meta.get("val"))
        if is_overload(node.target) and node.target is not torch.ops.aten.slice.Tensor:
            yield from _sizes((*node.args, *node.kwargs.values()))
            if node.target.overloadpacket.__name__.endswith("_like"):
                yield from _sizes(tuple(node.meta["val"].shape))


def _is_a_bound(node: torch.fx.Node) -> bool:
    """Whether nothing but slices take the number that the node computes."""
    import torch

    slices = [user.target is torch.ops.aten.slice.Tensor for user in node.users]
    return bool(slices) and all(slices)


def _sizes(argument: Any) -> Iterator[Any]:
    """Those of the sizes in an argument: of nodes, or of sizes themselves."""
    if isinstance(argument, (list, tuple)):
        for each in argument:
            yield from _sizes(each)
    elif hasattr(expression := expression_of(argument), "free_symbols"):
        yield expression


def _is_read(length: Any, numbers: Sequence[Any]) -> bool:
    """Whether one of the numbers is below 0 where the slice's length is."""
    empty = length.free_symbols
    for number in numbers:
        symbols = number.free_symbols
        sizes = {symbol: 0 if symbol in empty else _OTHER for symbol in symbols}
        value = number_at(number, sizes) if symbols & empty else None
        if value is not None and value < 0:
            return True
    return False


def _note(node: torch.fx.Node, size: int) -> Diagnostic:
    return warning_of(
        node,
        "aten::slice.Tensor",
        f"a slice ({node.name}) is shorter than captured where a dynamic dimension is {size}",
        "what the model computes there may be wrong, since PyTorch's capture assumes at least 2",
        f"declare Dim('name', min={size + 1}), or keep to larger sizes",
    )

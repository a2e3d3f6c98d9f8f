"""Operators whose results have other sizes than the program says where a size is 0 or 1.

PyTorch's capture takes free sizes for 2 and more, and answers by that what operators ask of them.
(n + m % 2) // n is 1 then, so a dimension of that size is broadcast. At n = m = 1 it is 2. It also
takes two sizes for one that are equal in the example: x[: n // 2] + y has a row for each of y, also
where n // 2 is 1.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import getitem
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._torch_private import sizes as torch_sizes
from sardonyx._torch_private.operators import is_overload, schema_of

from .dim_names import least_sizes
from .dim_spec import TAKEN_FOR, Leaf
from .node_warnings import warning_of
from .sampled_sizes import expression_of, number_at, sampled_sizes, values_at

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

# Those of one symbol by a number are asked about by bounds that the program has.
_QUOTIENTS = frozenset({"FloorDiv", "CleanDiv", "Mod", "PythonMod"})
_LEASTS = frozenset({"Min", "Max"})
_MAX_SYMBOLS = 4
_LARGE = 1 << 31
_FEW_ROWS = 12


def small_results(program: ExportedProgram, leaves: Sequence[Leaf]) -> list[Diagnostic]:
    """A warning (SX1015) for each line with such an operator.

    Operators of quotients and remainders by dynamic sizes, or of several, of sizes that are one
    number but for 0 and 1, and of different sizes in one dimension are run on meta tensors.
    """
    ranges = {str(symbol): known for symbol, known in program.range_constraints.items()}
    least = least_sizes(program, leaves)
    known: dict[Any, bool] = {}
    found: dict[Any, Diagnostic] = {}
    for node in program.graph.nodes:
        if not is_overload(node.target):
            continue
        has_rule = not _is_without_rule(node)
        if has_rule and not (len(ranges) > 1 or _is_parted(node) or _is_rounded_up(node)):
            continue
        if not (symbols := _symbols(node)):
            continue
        call = _signature(node)
        if call not in known:
            rows = sampled_sizes(symbols, ranges, least)
            some = rows if has_rule else itertools.islice(rows, _FEW_ROWS)
            known[call] = any(_differs(node, row) for row in some)
        if known[call]:
            note = _note(node)
            found.setdefault((note.file, note.line), note)
    return list(found.values())


def _symbols(node: torch.fx.Node) -> list[Any]:
    """Those of the sizes that the operator takes; empty where its results are as in any capture."""
    sizes = [each for argument in _given(node) for each in _sizes(argument)]
    expressions = [expression_of(each) for each in sizes if hasattr(each, "node")]
    is_common = not any(map(_is_uncommon, expressions))
    kinds = (_is_broadcast, _is_parted, _is_rounded_up, _is_without_rule)
    if is_common and not any(is_kind(node) for is_kind in kinds):
        return []
    symbols = set().union(*(each.free_symbols for each in expressions))
    return sorted(symbols, key=str) if len(symbols) <= _MAX_SYMBOLS else []


def _is_broadcast(node: torch.fx.Node) -> bool:
    """Whether a dimension has different dynamic sizes in several tensors of an elementwise
    operator, other than sums. Callers know which sums are one size: a mask is as long as the
    past and the tokens."""
    import torch

    operator: Any = node.target
    if torch.Tag.pointwise not in operator.tags:
        return False
    values = [source.meta.get("val") for source in node.all_input_nodes]
    shapes = [value.shape[::-1] for value in values if isinstance(value, torch.Tensor)]
    dims = itertools.zip_longest(*shapes, fillvalue=1)
    return any(_are_different(filter(lambda size: hasattr(size, "node"), dim)) for dim in dims)


def _is_parted(node: torch.fx.Node) -> bool:
    """Whether a computed size decides how many tensors the operator returns:
    `x.split(max(n * m - m, 1))`."""
    if not isinstance(node.meta.get("val"), (list, tuple)):
        return False
    numbers = [each for each in _given(node) if hasattr(each, "node")]
    return any(not expression_of(each).is_symbol for each in numbers)


def _is_without_rule(node: torch.fx.Node) -> bool:
    """Whether its result's sizes are what PyTorch's own kernel answers for the example, by no rule
    of this package or one for larger sizes: `torch.cov` of one row is a number."""
    import torch

    from sardonyx._capture.meta_tracer.entry.trust import distrust

    if distrust():  # there are no rules in this PyTorch
        return False
    from sardonyx._capture.meta_tracer.meta.rules import TABLE

    operator: Any = node.target
    is_squeeze = operator.overloadpacket is torch.ops.aten.squeeze  # which have notes of their own
    return operator not in TABLE and torch.Tag.pointwise not in operator.tags and not is_squeeze


def _is_rounded_up(node: torch.fx.Node) -> bool:
    """Whether it is a pooling with ceil_mode, which leaves out a last window of padding alone: the
    program has that for the example's sizes."""
    names = [argument.name for argument in schema_of(node.target).arguments]
    given = dict(zip(names, node.args, strict=False)) | node.kwargs
    return given.get("ceil_mode") is True


def _given(node: torch.fx.Node) -> tuple[Any, ...]:
    """The arguments of a call: tensors, sizes, lists of these, and others."""
    arguments: tuple[Any, ...] = _with_values((*node.args, *node.kwargs.values()))
    return arguments


def _with_values(arguments: Any) -> Any:
    """Those of a call, with what its nodes stand for."""
    import torch

    return torch.fx.node.map_arg(arguments, lambda source: source.meta.get("val"))


def _are_different(sizes: Iterable[Any]) -> bool:
    expressions = set(map(expression_of, sizes))
    return len(expressions) > 1 and any(
        type(part).__name__ in _QUOTIENTS | _LEASTS for each in expressions for part in _parts(each)
    )


@functools.lru_cache(maxsize=4096)
def _is_uncommon(expression: Any) -> bool:
    """Whether a quotient or remainder in it is by a dynamic size, or of several; or it is one
    number but for sizes of 0 and 1, as `min(n, 1)` is."""
    kinds = {type(part).__name__ for part in _parts(expression)}
    if kinds & _LEASTS:
        large = dict.fromkeys(expression.free_symbols, (TAKEN_FOR, _LARGE))
        bounds = torch_sizes.bounds_of_expression(expression, large)
        if bounds is not None and bounds[0] == bounds[1]:
            return True
    return any(
        type(part).__name__ in _QUOTIENTS
        and (len(part.free_symbols) > 1 or part.args[1].free_symbols)
        for part in _parts(expression)
    )


@functools.lru_cache(maxsize=4096)
def _parts(expression: Any) -> tuple[Any, ...]:
    import sympy

    return tuple(sympy.preorder_traversal(expression))


def _sizes(value: Any) -> Iterator[Any]:
    """A number, or the sizes of tensors."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _sizes(each)
    elif hasattr(value, "shape"):
        yield from value.shape
    else:
        yield value


def _signature(node: torch.fx.Node) -> Any:
    """What decides the result's sizes: equal for calls that are alike."""

    import torch

    def described(source: Any) -> Any:
        value = source.meta.get("val")
        return getattr(value, "dtype", None), *map(str, map(expression_of, _sizes(value)))

    called = torch.fx.node.map_arg((node.args, node.kwargs), described)
    results = tuple(map(str, map(expression_of, _sizes(node.meta.get("val")))))
    return node.target, str(called), results


def _differs(node: torch.fx.Node, sizes: Mapping[Any, int]) -> bool:
    """Whether the results that are read have other sizes than the program says, or all are fewer
    or more.

    Those that nothing reads may be of other sizes on each device: the bags of an EmbeddingBag.
    """
    operator: Any = node.target
    given = _read_results(node, node.meta.get("val"))
    captured = [number_at(expression_of(size), sizes) for size in _sizes(given)]
    arguments = _with_values((node.args, node.kwargs))
    try:
        try:
            results = _called(operator, arguments, sizes, "meta")
        except NotImplementedError:  # a kernel that needs data
            results = _called(operator, arguments, sizes, "cpu")
    except Exception:  # neither does the model run at such sizes
        return False
    if not captured or any(size is None or size < 0 for size in captured):
        return False  # the program does not run at such sizes
    return list(_sizes(_read_results(node, results))) != captured


def _read_results(node: torch.fx.Node, results: Any) -> Any:
    """Those of several results that the program reads, and how many there are of all."""
    if not isinstance(results, (list, tuple)):
        return results
    if any(user.target is not getitem for user in node.users):
        return results
    read = {user.args[1] for user in node.users if user.users}
    return [len(results), *(each for place, each in enumerate(results) if place in read)]


def _called(operator: Any, arguments: Any, sizes: Mapping[Any, int], device: str) -> Any:
    import torch

    args, kwargs = values_at(arguments, sizes, device)
    if "device" in kwargs:
        kwargs = {**kwargs, "device": device}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return operator(*args, **kwargs)


def _note(node: torch.fx.Node) -> Diagnostic:
    if _is_rounded_up(node):
        return warning_of(
            node,
            str(node.target),
            f"a pooling with ceil_mode ({node.name}) has a window less for some sizes: its size "
            "is captured as the example has it",
            "what the model computes of that size may be wrong",
            "declare bounds, as in Dim('name', min=..., max=...), or pool without ceil_mode",
        )
    return warning_of(
        node,
        str(node.target),
        f"an operator ({node.name}) has a result of another size than captured where a size is 0 "
        "or 1",
        "what the model computes there may be wrong, since PyTorch's capture assumes at least 2",
        "declare Dim('name', min=2), or keep to larger sizes",
    )

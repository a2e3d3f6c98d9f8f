"""Expressions of a program's sizes, evaluated at some of the sizes that the program takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sardonyx._capture.meta_tracer.symbolic.evaluation import evaluator
from sardonyx._capture.meta_tracer.symbolic.relations import at_sizes

from .dim_spec import TAKEN_FOR

# The sizes of each symbol. Equal ones of several symbols come first, then combinations of the first
# ones.
_SIZES = (2, 7, 1, 0, 33, 3, 4, 100)
_MAX_ROWS = 64
_MAX_SYMBOLS = 3  # up to so many, all sizes are combined
_MAX_COMBINATIONS = 4096


def sampled_sizes(
    symbols: Sequence[Any], ranges: Mapping[str, Any], least: Mapping[str, int]
) -> Iterator[dict[Any, int]]:
    """Sizes of all symbols, within the program's ranges and what the user declared."""
    sizes = _SIZES if len(symbols) <= _MAX_SYMBOLS else _SIZES[:_MAX_SYMBOLS]
    values = [
        [
            size
            for size in sizes
            if size >= least.get(str(symbol), 0) and is_within(size, ranges.get(str(symbol)))
        ]
        for symbol in symbols
    ]
    for row in itertools.islice(_by_rank(values), _MAX_ROWS):
        yield dict(zip(symbols, row, strict=True))


def _by_rank(values: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Their product, so that each symbol has each of its first values early."""
    product = itertools.product(*(range(len(each)) for each in values))
    ranks = itertools.islice(product, _MAX_COMBINATIONS)
    for rank in sorted(ranks, key=lambda rank: (len(set(rank)) > 1, sum(rank))):
        yield tuple(each[place] for each, place in zip(values, rank, strict=True))


def is_within(size: int, known: Any) -> bool:
    """Whether the program takes the size; captures take 0 and 1 for 2."""
    if known is None:
        return True
    return bool(size <= known.upper and (known.lower <= TAKEN_FOR or size >= known.lower))


def expression_of(part: Any) -> Any:
    """The expression of a node, of its value or of a size; a number is its own."""
    part = part.meta.get("val") if hasattr(part, "meta") else part
    return part.node.expr if hasattr(part, "node") else part


def number_at(part: Any, sizes: Mapping[Any, int]) -> int | None:
    """An expression's value; None where it has none, and of None."""
    if part is None or isinstance(part, int):
        return part
    value = at_sizes(part, sizes)
    return int(value) if value is not None and value.is_Integer else None


# Of tensors with data.
_MAX_ELEMENTS = 1 << 16


def values_at(value: Any, sizes: Mapping[Any, int], device: str = "meta") -> Any:
    """An operator's arguments or results at these sizes: tensors and integers, in lists and
    dictionaries. Tensors have no data on the meta device, and ones elsewhere.

    Raises ValueError, ArithmeticError or LookupError where a size has no value.
    """
    import torch

    if isinstance(value, (list, tuple)):
        return [values_at(each, sizes, device) for each in value]
    if isinstance(value, dict):
        return {name: values_at(each, sizes, device) for name, each in value.items()}
    if isinstance(value, torch.Tensor):
        shape = [values_at(each, sizes) for each in value.shape]
        if device == "meta":
            return torch.empty(shape, dtype=value.dtype, device=device)
        if math.prod(shape) > _MAX_ELEMENTS:
            raise ValueError(f"{shape} are too many elements")
        return torch.ones(shape, dtype=value.dtype, device=device)
    if not hasattr(value, "node"):
        return value
    expression = expression_of(value)
    evaluate = evaluator(expression)  # compiled: sympy takes a hundred times longer
    number = number_at(expression, sizes) if evaluate is None else evaluate(sizes)
    if not isinstance(number, int):
        raise ValueError(f"{value} has no value")
    return number

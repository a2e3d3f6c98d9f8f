"""The rule of einsum, of two tensors that have something in common to sum over: its fake kernel
asks of each size whether it is 1."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import Size, made_same

from .results import ResultFactory, dims_of, numbers, steps_of
from .tensor import QuickTensor


def einsum(
    results: ResultFactory, equation: str, tensors: Sequence[torch.Tensor], *, path: Any = None
) -> QuickTensor:
    one, other, given = _labels(equation, [len(dims_of(each)) for each in tensors])
    if len(tensors) != 2 or path is not None or tensors[0].dtype != tensors[1].dtype:
        raise DeclinedError("einsum of other than two tensors of one type")
    left, right = _sizes(one, tensors[0]), _sizes(other, tensors[1])
    shared = set(one) & set(other)
    if not shared - set(given) or (set(one) | set(other)) - shared - set(given):
        raise DeclinedError("einsum that sums over nothing, or over one tensor alone")
    summed = shared - set(given)
    if all(numbers((left[each], right[each])) == [1, 1] for each in summed):
        each = (_aligned(one, given, tensors[0]), _aligned(other, given, tensors[1]))
        return results.pointwise(each, tensors[0].dtype)
    if 1 in numbers((*left.values(), *right.values())):
        raise DeclinedError("einsum of tensors with sizes of 1")
    sizes = left | right | {each: _one_of(left[each], right[each]) for each in shared}
    # As a product of stacks of matrices: what both have, then the one's own, then the other's; or
    # the other way round, where the result has them so.
    stacked = [each for each in given if each in shared]
    of_one, of_other = (
        [e for e in given if e in each and e not in shared] for each in (one, other)
    )
    turned = [each for each in given if each not in shared] == of_other + of_one
    stacked += of_other + of_one if turned else of_one + of_other
    whole = results.dense(tuple(sizes[each] for each in stacked), tensors[0].dtype)
    order = [stacked.index(each) for each in given]
    return QuickTensor.of(
        tuple(whole.dims[i] for i in order), tuple(whole.steps[i] for i in order), whole.dtype
    )


def _labels(equation: str, ranks: Sequence[int]) -> tuple[str, str, str]:
    equation = _without_dots(equation, ranks)
    operands, arrow, given = equation.replace(" ", "").partition("->")
    one, comma, other = operands.partition(",")
    known = all(each.isalpha() and len(set(each)) == len(each) for each in (one, other))
    if not (arrow and comma and known) or len(set(given)) != len(given):
        raise DeclinedError("an equation of einsum without a rule")
    if not set(given) <= set(one + other):
        raise DeclinedError("einsum that gives what none of its tensors has")
    return one, other, given


def _without_dots(equation: str, ranks: Sequence[int]) -> str:
    """With letters for the axes that each `...` stands for, where it is as many everywhere."""
    operands, _, given = equation.partition("->")
    terms = operands.replace(" ", "").split(",")
    if "..." not in given or not all("..." in term for term in terms):
        return equation
    counts = {rank - len(term) + 3 for rank, term in zip(ranks, terms, strict=False)}
    free = [letter for letter in string.ascii_letters if letter not in equation]
    if len(counts) != 1 or not 0 <= min(counts) <= len(free):
        raise DeclinedError("einsum of tensors that are broadcast")
    return equation.replace("...", "".join(free[: counts.pop()]))


def _sizes(labels: str, tensor: torch.Tensor) -> dict[str, Size]:
    dims = dims_of(tensor)
    if len(dims) != len(labels):
        raise DeclinedError("einsum of tensors of other ranks")
    return dict(zip(labels, dims, strict=True))


def _aligned(labels: str, given: str, tensor: torch.Tensor) -> QuickTensor:
    """With the axes of the result, of one element those that the tensor has not."""
    dims, steps = dims_of(tensor), steps_of(tensor)
    places = [labels.find(each) for each in given]
    return QuickTensor.of(
        tuple(1 if i < 0 else dims[i] for i in places),
        tuple(0 if i < 0 else steps[i] for i in places),
        tensor.dtype,
    )


def _one_of(a: Size, b: Size) -> Size:
    if not made_same(a, b):
        raise DeclinedError("einsum of sizes that do not fit")
    return a if type(a) is int else b

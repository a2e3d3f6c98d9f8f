"""Sizes and strides: ints, and torch.export's own SymInts where the user left them open.

Two sizes are the same where their expressions are. What cannot be told from expressions alone is
declined, so that no rule assumes anything of a size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._torch_private.sizes import (
    is_always_true,
    plain_expression,
    size_of_expression,
)

# An int, or a torch.SymInt, which has an int's operators.
Size = Any
Sizes = tuple[Size, ...]


def key(size: Size) -> Hashable:
    """What equal sizes have in common."""
    if type(size) is int:
        return size
    node = size.node
    learnt = len(node.shape_env.replacements)
    if not learnt:
        first: Hashable = plain_expression(node)
        return first
    kept: tuple[int, Hashable] | None = node.__dict__.get("_key")
    if kept is None or kept[0] != learnt:
        kept = node.__dict__["_key"] = (learnt, node.expr)
    return kept[1]


def same(a: Size, b: Size) -> bool:
    """Whether two sizes are equal, whatever the inputs are."""
    return a is b or bool(key(a) == key(b))


# What tells whether sizes are equal behind the branches on sizes that are followed, and what has
# them be equal.
_known_equal: list[Callable[[Any], bool]] = []
_made_equal: list[Callable[[Any, Any], bool]] = []


@contextmanager
def told_of_equal_sizes(
    is_equal: Callable[[Any], bool], make_equal: Callable[[Any, Any], bool]
) -> Iterator[None]:
    """Within it, `is_equal` says of an equality of sizes whether it holds on the path of a run, and
    `make_equal` asserts it of two expressions, if it may."""
    _known_equal.append(is_equal)
    _made_equal.append(make_equal)
    try:
        yield
    finally:
        _known_equal.pop()
        _made_equal.pop()


def always_same(a: Size, b: Size) -> bool:
    """Whether two sizes are equal as expressions, or for all values of their symbols: a sequence
    that is padded to parts of 64 has 64 times as many elements as parts."""
    if same(a, b):
        return True
    if is_static((a, b)) or is_by_data((a, b)):
        return False
    import sympy

    from .periodic import always_holds

    equality = sympy.Eq(key(a), key(b))
    if not isinstance(equality, sympy.Equality):
        return bool(equality == sympy.true)
    return always_holds(equality) or any(is_equal(equality) for is_equal in _known_equal)


def _is_same_stride(a: Size, b: Size) -> bool:
    """Whether two strides are equal once their products are expanded: 8 * (n + 1) is 8 * n + 8 in
    one way that PyTorch computes it. PyTorch's strides are products of max(1, size); where a size
    is 0, there are no elements."""
    if same(a, b):
        return True
    if is_static((a, b)) or is_by_data((a, b)) or hint(a) != hint(b):
        return False
    return _is_zero(key(a), key(b))


@functools.lru_cache(maxsize=4096)
def _is_zero(a: Any, b: Any) -> bool:
    """Whether their difference is, in tensors that have elements."""
    import sympy

    difference = a - b
    sizes = {
        part: sum(part.args) - 1
        for part in sympy.preorder_traversal(difference)
        if type(part).__name__ == "Max" and len(part.args) == 2 and 1 in part.args
    }
    return bool(sympy.expand(difference.xreplace(sizes)) == 0)


def made_same(a: Size, b: Size) -> bool:
    """Whether two sizes that have to be equal are; of symbols that is asked as PyTorch asks it.
    Behind a branch on sizes it is asserted, where neither is 1."""
    if same(a, b):
        return True
    if is_by_data((a, b)):
        raise DeclinedError("data-dependent sizes have to be equal")
    if is_static((a, b)):
        return False
    return bool(a == b) or _asserted_same(a, b)


def _asserted_same(a: Size, b: Size) -> bool:
    """Whether it is asserted behind a branch on sizes that two of them are equal."""
    return any(make(key(a), key(b)) for make in _made_equal)


def hint(size: Size) -> int:
    """The size in the example."""
    if type(size) is int:
        return size
    known = size.node.hint
    if known is None:
        raise DeclinedError("a size depends on data")
    return int(known)


def is_by_data(sizes: Sequence[Size]) -> bool:
    """Whether one of them is data-dependent."""
    return any(type(size) is not int and size.node.hint is None for size in sizes)


def is_static(sizes: Sequence[Size]) -> bool:
    """Whether all of them are numbers."""
    return all(type(size) is int for size in sizes)


def plain(size: Size) -> Size:
    """An int where the size is one. Declines everything that is neither an int nor a SymInt."""
    if type(size) is int:
        return size
    if isinstance(size, bool) or not hasattr(size, "node") or size.node.pytype is not int:
        raise DeclinedError(f"a size is a {type(size).__name__}")
    expression: Any = key(size)
    return int(expression) if expression.is_number else size


def product(sizes: Sequence[Size]) -> Size:
    """Their product."""
    number, symbols = 1, []
    for size in sizes:
        if type(size) is int:
            number *= size
        else:
            symbols.append(size)
    if not symbols or number == 0:
        return number
    result = math.prod(symbols[1:], start=symbols[0])
    return plain(result if number == 1 else result * number)


class Strides:
    """Strides of the shapes that one capture sees, computed once each."""

    def __init__(self) -> None:
        self._contiguous: dict[Hashable, Sizes] = {}
        self._order: dict[Hashable, bool] = {}

    def contiguous(self, shape: Sizes) -> Sizes:
        """Those of a tensor in row-major order."""
        index = tuple(map(key, shape))
        found = self._contiguous.get(index)
        if found is None:
            found = self._contiguous[index] = _row_major(shape)
        return found

    def is_contiguous(self, shape: Sizes, strides: Sizes) -> bool:
        """Whether elements lie in row-major order; dims of 1 may lie anywhere."""
        if any(type(size) is int and size == 0 for size in shape):
            return True
        if all(map(same, strides, self.contiguous(shape))):
            return True
        expected: Size = 1
        for size, stride in zip(reversed(shape), reversed(strides), strict=True):
            if type(size) is int and size == 1:
                continue
            if not _is_same_stride(stride, expected):
                return False
            expected = plain(expected * size)
        return True

    def is_one_dense(self, shape: Sizes, operands: Sequence[tuple[Sizes, Sizes]]) -> bool:
        """Whether all operands lie alike, each element in its own place and none between them."""
        strides = operands[0][1]
        for other_shape, other in operands:
            if not all(map(same, other_shape, shape)) or not all(map(same, other, strides)):
                return False
        order = sorted(range(len(shape)), key=lambda axis: hint(strides[axis]), reverse=True)
        return self.is_contiguous(
            tuple(shape[axis] for axis in order), tuple(strides[axis] for axis in order)
        )

    def at_most(self, a: Size, b: Size) -> bool:
        """Whether one stride is never above the other. Declines where that depends on sizes."""
        if type(a) is int and type(b) is int:
            return a <= b
        index = (key(a), key(b))
        found = self._order.get(index)
        if found is None:
            found = self._order[index] = _at_most(a, b)
        return found

    def permuted_as(self, shape: Sizes, operands: Sequence[tuple[Sizes, Sizes]]) -> Sizes:
        """Those of an elementwise result: dims in the order in which the operands' lie.

        Operands have the result's rank, and stride 0 where they are broadcast. As in
        TensorIterator::reorder_dimensions.
        """
        if all(self.is_contiguous(*operand) for operand in operands):
            return self.contiguous(shape)
        order = list(reversed(range(len(shape))))
        for i in range(1, len(order)):
            moved = i
            for before in reversed(range(i)):
                swap = self._swaps(shape, operands, order[before], order[moved])
                if swap > 0:
                    order[before], order[moved] = order[moved], order[before]
                    moved = before
                elif swap < 0:
                    break
        strides: list[Size] = [1] * len(shape)
        step: Size = 1
        for axis in order:
            strides[axis] = step
            step = plain(step * shape[axis])
        return tuple(strides)

    def _swaps(
        self, shape: Sizes, operands: Sequence[tuple[Sizes, Sizes]], inner: int, outer: int
    ) -> int:
        for _, strides in operands:
            a, b = strides[inner], strides[outer]
            if (type(a) is int and a == 0) or (type(b) is int and b == 0):
                continue
            if same(a, b):
                if not self.at_most(shape[inner], shape[outer]):
                    return 1
                continue
            return -1 if self.at_most(a, b) else 1
        return 0


def _row_major(shape: Sizes) -> Sizes:
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(shape):
        strides.append(step)
        if not (type(size) is int and size in (0, 1)):
            step = plain(step * size)
    return tuple(reversed(strides))


def _at_most(a: Size, b: Size) -> bool:
    if is_always_true(a <= b):
        return True
    if is_always_true(a > b):
        return False
    raise DeclinedError("the order of dims in memory depends on sizes")


def broadcast(shapes: Sequence[Sizes]) -> Sizes:
    """The shape that all of these take. Declines where it depends on sizes."""
    rank = max(map(len, shapes))
    result: list[Size] = [1] * rank
    for shape in shapes:
        start = rank - len(shape)
        for axis, size in enumerate(shape, start):
            known = result[axis]
            if (type(size) is int and size == 1) or same(known, size):
                continue
            if is_repeated(known):
                result[axis] = size
            elif not is_at_most_1(size) and not made_same(known, size):
                raise DeclinedError(f"sizes {known} and {size} meet in a broadcast")
    return tuple(result)


def is_repeated(size: Size) -> bool:
    """Whether a dimension of this size is repeated to any other one that it meets."""
    return size == 1 if type(size) is int else is_at_most_1(size)


def is_at_most_1(size: Size) -> bool:
    """Whether it is 0 or 1, as that of `x[:1]` of any number of rows. What needs it to be 1 fails
    at run time where it is 0: as PyTorch does, but for squeeze()."""
    return type(size) is not int and is_always_true(size <= 1)


def wrapped_axis(axis: int, rank: int) -> int:
    """An axis from the front. Declines where there is no such, which PyTorch is to say, as it is
    of single elements, for which some operators take 0 and -1."""
    if type(axis) is not int or not -rank <= axis < rank:
        raise DeclinedError(f"there is no axis {axis} of {rank}")
    return axis % rank


def filled_in(wanted: Sequence[Size], shape: Sizes) -> Sizes:
    """A shape with as many elements as `shape`, and its -1 computed."""
    sizes = [plain(size) for size in wanted]
    open_axes = [i for i, size in enumerate(sizes) if type(size) is int and size == -1]
    if len(open_axes) > 1:
        raise DeclinedError("a shape has several -1")
    if open_axes:
        sizes[open_axes[0]] = _quotient(shape, sizes[: open_axes[0]] + sizes[open_axes[0] + 1 :])
    elif not _has_as_many(sizes, shape):
        raise DeclinedError("a view may have another number of elements")
    return tuple(sizes)


def _has_as_many(sizes: Sequence[Size], shape: Sizes) -> bool:
    """Whether shapes have equally many elements, as they must in a view."""
    all_of, known = product(sizes), product(shape)
    return always_same(all_of, known) or _asserted_same(all_of, known)


def _quotient(shape: Sizes, others: Sequence[Size]) -> Size:
    """The size for which a shape has as many elements as that with `others`. What is in both is no
    part of the quotient, in whose expanded product sympy does not find it."""
    if any(type(size) is int and size == 0 for size in others):
        raise DeclinedError("a shape has -1 and 0")
    left, divisors = list(shape), []
    for size in others:
        axis = next((i for i, known in enumerate(left) if same(known, size)), None)
        if axis is None:
            divisors.append(size)
        else:
            del left[axis]
    total, divisor = product(left), product(divisors)
    if (exact := _exact_quotient(total, divisor)) is not None:
        return exact
    rest = plain(total // divisor)
    if always_same(plain(rest * divisor), total):
        return rest
    if type(divisor) is not int or is_by_data((total,)) or hint(total) % divisor:
        raise DeclinedError("a size of a view is a rounded quotient")
    # PyTorch's own kernel asks it of one dimension, where another may have the divisor.
    torch._check(total % divisor == 0)
    return plain(total // divisor)


def _exact_quotient(total: Size, divisor: Size) -> Size | None:
    """The quotient of sizes whose expressions have none left over; None of any others."""
    if is_static((total,)) or is_static((divisor,)) or is_by_data((total, divisor)):
        return None
    from .periodic import exact_quotient

    found = exact_quotient(key(total), key(divisor))
    return None if found is None else plain(size_of_expression(found, like=total))


def strides_of_view(shape: Sizes, strides: Sizes, wanted: Sizes) -> Sizes | None:
    """Those by which memory of this layout has the wanted shape; None where it has not.

    As in at::detail::computeStride. Declines where it depends on sizes.
    """
    if is_static(shape) and 0 in shape:
        raise DeclinedError("a view of an empty tensor")
    result: list[Size] = [0] * len(wanted)
    axis = len(wanted) - 1
    base = strides[-1] if strides else 1
    run: Size = 1
    done: Size = 1
    for i in reversed(range(len(shape))):
        run = plain(run * shape[i])
        ends = i == 0 or (
            not (type(shape[i - 1]) is int and shape[i - 1] == 1)
            and not _is_same_stride(strides[i - 1], plain(run * base))
        )
        if not ends:
            continue
        while axis >= 0 and _takes_in(wanted[axis], done, run):
            result[axis] = plain(done * base)
            done = plain(done * wanted[axis])
            axis -= 1
        if not always_same(done, run):
            if hint(done) == hint(run):
                raise DeclinedError("whether a tensor can be viewed depends on sizes")
            return None
        if i > 0:
            base = strides[i - 1]
            run, done = 1, 1
    return tuple(result) if axis == -1 else None


def _takes_in(size: Size, done: Size, run: Size) -> bool:
    """Whether one more dim belongs to those that are `done` of a run of elements; of one element
    alone in the example that is not seen there."""
    if hint(done) < hint(run) or same(size, 1):
        return True
    return hint(done) == hint(run) and hint(size) == 1 and not always_same(done, run)

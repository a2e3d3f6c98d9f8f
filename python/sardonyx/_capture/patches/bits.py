"""Bits of sizes, as remainders and rounded quotients: `n & 7` is `n % 8`, and `n | 1` is
`n + 1 - n % 2`. PyTorch has functions for them that no exporter can read, and none for `~n`."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .patching import Replacement, replaced


@contextmanager
def bits_of_sizes() -> Iterator[None]:
    """Within it, `&`, `|` and `^` of a size and a number, and `~` of a size, are arithmetic. Of two
    sizes they are a TypeError: no arithmetic gives them."""
    import torch

    kind: Any = torch.SymInt
    replacements = [
        Replacement(kind, f"__{prefix}{name}__", _method(getattr(kind, f"__{name}__"), name))
        for name in _OPERATORS
        for prefix in ("", "r")
    ]
    had_inverse = hasattr(kind, "__invert__")
    try:
        if not had_inverse:
            kind.__invert__ = _inverted
        with replaced(replacements):
            yield
    finally:
        if not had_inverse:
            del kind.__invert__


def _method(usual: Any, name: str) -> Any:
    """The method of SymInt, which is the same from either side."""
    import torch

    sign, of_numbers, of_size = _OPERATORS[name]

    def method(size: Any, other: Any) -> Any:
        size, other = _plain(size), _plain(other)
        if type(size) is int and type(other) is int:
            return of_numbers(size, other)
        if type(size) is int:
            size, other = other, size
        if isinstance(other, int):
            return of_size(size, int(other))
        if isinstance(other, torch.SymInt):
            raise TypeError(
                f"the bits of two dynamic sizes ({size} {sign} {other}) are not computed: "
                "one of both has to be a number"
            )
        return usual(size, other)

    return method


def _plain(size: Any) -> Any:
    """The number, where a SymInt is one."""
    import torch

    if isinstance(size, torch.SymInt) and size.node.expr.is_number:
        return int(size.node.expr)
    return size


def _and(size: Any, mask: int) -> Any:
    """By runs of ones in the mask. Sizes may be negative: as in Python, bits are those of two's
    complement, and remainders are never negative."""
    if mask < 0:
        return size - _and(size, ~mask)
    result: Any = 0
    at = 0
    while mask >> at:
        if not mask >> at & 1:
            at += 1
            continue
        length = 0
        while mask >> (at + length) & 1:
            length += 1
        result = result + (size // (1 << at) % (1 << length)) * (1 << at)
        at += length
    return result


def _or(size: Any, mask: int) -> Any:
    return size + mask - _and(size, mask)


def _xor(size: Any, mask: int) -> Any:
    return size + mask - 2 * _and(size, mask)


_OPERATORS: dict[str, tuple[str, Any, Any]] = {
    "and": ("&", operator.and_, _and),
    "or": ("|", operator.or_, _or),
    "xor": ("^", operator.xor, _xor),
}


def _inverted(size: Any) -> Any:
    return -size - 1

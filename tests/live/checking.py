"""Functions with checks of data, where pytest does not write `assert` anew."""

from __future__ import annotations

from contextlib import nullcontext

import torch


def asserts(x: torch.Tensor) -> torch.Tensor:
    assert (x >= 0).all(), f"negative: {x}"
    return x + 1


def raises(x: torch.Tensor) -> torch.Tensor:
    if x.isnan().any() or not (x < 9).all():
        raise ValueError("large" if x.shape[1] > 3 else "wide")
    return x * 2


def reads_a_number(x: torch.Tensor) -> torch.Tensor:
    if x.max().item() > 9:
        raise ValueError
    return x - 1


def compares(x: torch.Tensor) -> torch.Tensor:
    assert torch.equal(x, x.abs())
    if not x.allclose(x.abs(), atol=0.1):
        raise ValueError
    return x.sqrt()


def within_a_with_statement(x: torch.Tensor) -> torch.Tensor:
    with nullcontext():
        assert not (x < 0).any()
    return x.sqrt()


CHECKING = [asserts, raises, reads_a_number, compares, within_a_with_statement]


def goes_another_way(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if (x > 0).all() else x - 1


def catches(x: torch.Tensor) -> torch.Tensor:
    try:
        assert (x > 0).all()
    except AssertionError:
        return x
    return x + 1


def catches_what_is_called(x: torch.Tensor) -> torch.Tensor:
    try:
        return asserts(x)
    except (AssertionError, ValueError):
        return x


def catches_around_a_with_statement(x: torch.Tensor) -> torch.Tensor:
    try:
        with nullcontext():
            assert (x > 0).all()
    except AssertionError:
        return x
    return x + 1


def raises_or_returns(x: torch.Tensor) -> torch.Tensor:
    if (x < 0).any():
        if x.shape[1] > 3:
            return x
        raise ValueError
    return x + 1


def takes_the_truth_for_another(x: torch.Tensor) -> torch.Tensor:
    if not bool((x > 0).all()):
        raise ValueError
    return x


def compares_lists(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    assert list(x.shape) == [n, 4], "another number of rows"
    return x + 1


BRANCHING = [
    *(goes_another_way, catches, catches_what_is_called, catches_around_a_with_statement),
    raises_or_returns,
]

"""Every way in which a program takes its arguments."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from torch.export import Dim

from tests.harness import Inputs, assert_exports

N = Dim("n", max=64)


def rows(*counts: int, width: int = 3) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(count, width) for count in counts)


class Point(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


class Nested(torch.nn.Module):
    def forward(self, point, table, *, shift, scales):
        total = point.x * 2 + point.y + table["a"][0] - table["a"][1]
        return total * scales[1] + shift - scales[0]


def test_nested_and_keyword_arguments() -> None:
    def inputs(n: int) -> Inputs:
        x, y, a, b, shift, s, t = (torch.randn(n, 3) for _ in range(7))
        return Inputs((Point(x, y), {"a": [a, b]}), {"shift": shift, "scales": (s, t)})

    row = {0: N}
    shapes = {
        "point": Point(row, row),  # type: ignore[arg-type]
        "table": {"a": [row, row]},
        "shift": row,
        "scales": (row, row),
    }
    first = inputs(4)
    exported = assert_exports(
        Nested(), first.args, first.kwargs, shapes, [inputs(2), inputs(1), inputs(7)]
    )
    assert len(exported.session.inputs) == 7


def test_keywords_in_another_order_than_the_signature() -> None:
    class Subtract(torch.nn.Module):
        def forward(self, a, *, b, c):
            return a - 2 * b - 5 * c

    a, b, c = (torch.randn(2) for _ in range(3))
    exported = assert_exports(Subtract(), (a,), {"c": c, "b": b})
    assert set(exported.session.inputs) == {"a", "b", "c"}


def test_none_and_constant_arguments_are_no_inputs() -> None:
    class Optional(torch.nn.Module):
        def forward(self, x, mask=None, factor=2.0, mode="add", flag=True):
            y = x**2 * factor
            y = y + 1 if mode == "add" and flag else y
            return y if mask is None else y * mask

    (x,) = rows(3)
    example = (x, None, 3.5, "add", False)
    exported = assert_exports(
        Optional(),
        example,
        dynamic_shapes=({0: N}, *[None] * 4),
        other_inputs=[(rows(5)[0], *example[1:])],
    )
    assert exported.session.inputs == ["x"]


def test_arguments_without_use_stay_inputs() -> None:
    """Callers feed the same dictionary to every export of a model; names must not come and go."""

    class OnlySecond(torch.nn.Module):
        def forward(self, unused, x, also_unused):
            return x + 1

    exported = assert_exports(OnlySecond(), rows(2, 3, 4))
    assert exported.session.inputs == ["unused", "x", "also_unused"]


def test_no_arguments_at_all() -> None:
    class Constant(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(2, 3))

        def forward(self):
            return self.weight * 2 + torch.arange(3)

    exported = assert_exports(Constant(), ())
    assert exported.session.inputs == []


def test_integers_and_booleans() -> None:
    class Mixed(torch.nn.Module):
        def forward(self, ids, keep, small):
            chosen = torch.where(keep, ids, ids.neg())
            return chosen // 3, keep.logical_not(), small + 1, chosen.sum(), keep.any(dim=1)

    def inputs(n: int) -> tuple[torch.Tensor, ...]:
        ids = torch.randint(-50, 50, (n, 4))
        return ids, ids % 2 == 0, torch.randint(0, 200, (n,), dtype=torch.uint8)

    assert_exports(
        Mixed(), inputs(3), dynamic_shapes=({0: N},) * 3, other_inputs=[inputs(6), inputs(2)]
    )


def test_numbers_as_zero_dimensional_tensors() -> None:
    class Scale(torch.nn.Module):
        def forward(self, x, scale, count):
            return x * scale, x + count

    assert_exports(
        Scale(),
        (torch.randn(3), torch.tensor(2.5), torch.tensor(4)),
        other_inputs=[(torch.randn(3), torch.tensor(-1.0), torch.tensor(0))],
    )


def test_a_size_as_an_argument() -> None:
    class Repeat(torch.nn.Module):
        def forward(self, x, times: int):
            return x.unsqueeze(0).expand(times, -1).clone() * times

    (x,) = torch.randn(1, 3)
    assert_exports(
        Repeat(),
        (x, 4),
        dynamic_shapes={"x": None, "times": Dim.DYNAMIC},
        other_inputs=[(x, 7), (x, 2)],
    )


def test_the_same_tensor_twice() -> None:
    class Both(torch.nn.Module):
        def forward(self, a, b):
            return a - 2 * b

    # torch.export takes them for one, unless the exporter tells them apart.
    (x,) = rows(3)
    assert_exports(Both(), (x, x), other_inputs=[rows(3, 3)], capture_first=False)


def test_variable_positional_and_keyword_arguments() -> None:
    class Sum(torch.nn.Module):
        def forward(self, first, *others, **named):
            return first + sum(others) - named["left"] * 2 + named["right"]

    a, b, c, left, right = rows(2, 2, 2, 2, 2)
    assert_exports(Sum(), (a, b, c), {"left": left, "right": right})


def test_not_contiguous_arguments() -> None:
    class Flat(torch.nn.Module):
        def forward(self, x):
            return x.reshape(-1) * torch.arange(x.numel())

    x = torch.randn(4, 6)
    assert_exports(Flat(), (x,), other_inputs=[(torch.randn(6, 4).t(),), (x[:, :6],)])


def test_related_dimensions() -> None:
    class Difference(torch.nn.Module):
        def forward(self, x, y):
            return x[:, 1:] - y, torch.cat([x, y], dim=1)

    k = Dim("k", min=2, max=32)

    def inputs(n: int, k: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(n, k + 1), torch.randn(n, k)

    assert_exports(
        Difference(),
        inputs(2, 5),
        dynamic_shapes=({0: N, 1: k + 1}, {0: N, 1: k}),
        other_inputs=[inputs(3, 2), inputs(1, 9)],
    )


@pytest.mark.parametrize("wrong", [(), (torch.ones(3), torch.ones(3))])
def test_a_wrong_number_of_arguments_is_refused(wrong: tuple[torch.Tensor, ...]) -> None:
    exported = assert_exports(torch.nn.ReLU(), (torch.ones(3),))
    with pytest.raises(Exception, match=r"(?i)input|argument"):
        exported.program(*wrong)

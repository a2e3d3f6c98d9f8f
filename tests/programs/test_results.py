"""Every way in which a program gives its results."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import Dim

from tests.harness import assert_exports

N = Dim("n", max=64)


def test_nested_results() -> None:
    class Nested(torch.nn.Module):
        def forward(self, x):
            return {"first": [x + 1, (x * 2,)], "second": {"inner": x.sum(0)}}

    x = torch.randn(3, 4)
    assert_exports(Nested(), (x,), dynamic_shapes=({0: N},), other_inputs=[(torch.randn(5, 4),)])


def test_results_of_a_registered_class() -> None:
    exported = assert_exports(_Labeled(), (torch.randn(2, 3),))
    assert exported.session.outputs == ["scores", "total"]


@dataclass
class _Result:
    scores: torch.Tensor
    total: torch.Tensor


torch.export.register_dataclass(_Result, serialized_type_name="sardonyx.tests.Result")


class _Labeled(torch.nn.Module):
    def forward(self, x):
        return _Result(scores=x.softmax(-1), total=x.sum())


def test_none_among_the_results() -> None:
    class Gaps(torch.nn.Module):
        def forward(self, x):
            return x + 1, None, {"a": None, "b": x * 2}

    exported = assert_exports(Gaps(), (torch.randn(2),))
    assert len(exported.session.outputs) == 2


def test_an_input_returned_as_output() -> None:
    class Pass(torch.nn.Module):
        def forward(self, x, y):
            return x, x + y, y

    x, y = torch.randn(2, 3), torch.randn(2, 3)
    exported = assert_exports(
        Pass(), (x, y), dynamic_shapes=({0: N}, {0: N}), other_inputs=[(x[:1], y[:1])]
    )
    assert not set(exported.session.inputs) & set(exported.session.outputs)


def test_nothing_but_an_input() -> None:
    class Identity(torch.nn.Module):
        def forward(self, x):
            return x

    assert_exports(Identity(), (torch.randn(2, 3),))


def test_the_same_result_twice() -> None:
    class Twice(torch.nn.Module):
        def forward(self, x):
            y = x.relu()
            return y, x.exp(), y, (y,)

    exported = assert_exports(Twice(), (torch.randn(4),))
    assert len(set(exported.session.outputs)) == 4


def test_views_of_an_input_and_of_a_result() -> None:
    class Views(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            return x.t(), y, y.view(-1), x[0], y.transpose(0, 1)[1:]

    x = torch.randn(3, 4)
    assert_exports(Views(), (x,), dynamic_shapes=({0: N},), other_inputs=[(torch.randn(6, 4),)])


def test_a_weight_as_result() -> None:
    class Weights(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)
            self.register_buffer("table", torch.arange(4))

        def forward(self, x):
            return self.linear(x), self.linear.weight, self.table, self.linear.weight

    assert_exports(Weights(), (torch.randn(2, 3),))


def test_scalars_as_results() -> None:
    class Scalars(torch.nn.Module):
        def forward(self, x):
            return x.sum(), x.argmax(), (x > 0).all(), x.new_tensor(3.5)

    assert_exports(Scalars(), (torch.randn(3, 4),))


def test_sizes_as_results() -> None:
    class Sizes(torch.nn.Module):
        def forward(self, x):
            return x * 2, x.shape[0], x.shape[0] * 2 + 1

    x = torch.randn(3, 4)
    assert_exports(Sizes(), (x,), dynamic_shapes=({0: N},), other_inputs=[(torch.randn(5, 4),)])


def test_empty_results() -> None:
    class Empty(torch.nn.Module):
        def forward(self, x):
            return x[:0], x.new_zeros(0, 3), x + 1

    assert_exports(Empty(), (torch.randn(3, 4),))


def test_empty_arguments_where_a_size_may_be_nothing() -> None:
    class Mean(torch.nn.Module):
        def forward(self, x, w):
            return x @ w, x.sum(0), torch.cat([x, x])

    w = torch.randn(4, 2)
    assert_exports(
        Mean(),
        (torch.randn(3, 4), w),
        dynamic_shapes=({0: N}, None),
        other_inputs=[(torch.randn(0, 4), w)],
    )

"""Where PyTorch's answer hangs on rounding, another answer is not called wrong; elsewhere it is."""

from __future__ import annotations

import torch

from sardonyx.hf.evaluation.references import as_sure, of_pytorch


class Winner(torch.nn.Module):
    """The value of the better of two scores, which differ by less than float32 can tell."""

    def __init__(self, distance: float) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.tensor([0.0, distance], dtype=torch.float64).float())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, (x.sum(-1, keepdim=True) + self.bias).argmax(-1)].diagonal()


def others(model: torch.nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    return of_pytorch(model, {"x": x}, lambda each, inputs: each(inputs["x"]))


def test_a_tie_is_no_difference() -> None:
    x = torch.tensor([[1e8, 3.0]])
    model = Winner(1.0)
    assert as_sure(torch.tensor([3.0]), model(x), others(model, x))


def test_what_is_not_a_tie_is_one() -> None:
    x = torch.tensor([[1.0, 3.0]])
    model = Winner(1.0)
    assert not as_sure(torch.tensor([1.0]), model(x), others(model, x))
    assert not as_sure(torch.tensor([3.0, 3.0]), model(x), others(model, x))


def test_a_size_that_is_drawn_at_random_is_left_open() -> None:
    wanted, got = torch.ones(1, 7), torch.ones(1, 5)
    assert as_sure(got, wanted, [torch.ones(1, 6)])
    assert not as_sure(got, wanted, [torch.ones(1, 7)])
    assert not as_sure(got, wanted, [torch.ones(1, 5)])
    assert not as_sure(torch.ones(7), wanted, [torch.ones(1, 6)])


class Sparse(torch.nn.Module):
    """The sum of the values with the highest scores, of which those below zero are equal."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, places = x.relu().topk(2, dim=-1)
        return (x + torch.arange(x.shape[-1])).gather(-1, places).sum(-1)


def test_which_of_equal_scores_is_higher_is_left_open() -> None:
    model = Sparse()
    x = torch.tensor([[-1.0, 5.0, -1.0, -1.0]])
    found = {float(model(x)), *(round(float(each), 3) for each in others(model, x))}
    assert {5 + 1 - 1 + 0, 5 + 1 - 1 + 3} <= found
    x = torch.tensor([[1.0, 5.0, -1.0, -1.0]])
    assert {round(float(each), 3) for each in others(model, x)} == {float(model(x))}


class Nearly(torch.nn.Module):
    """Which of two is larger hangs on the last places of what is computed of them."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x[:, 0] > x[:, 1], x[:, 2], x[:, 3])


def test_a_choice_that_the_last_places_of_the_input_decide_is_left_open() -> None:
    model = Nearly()
    x = torch.tensor([[1.0, 1.0 + 2**-23, 5.0, 7.0]])
    assert as_sure(torch.tensor([5.0]), model(x), others(model, x))
    x = torch.tensor([[1.0, 1.1, 5.0, 7.0]])
    assert not as_sure(torch.tensor([5.0]), model(x), others(model, x))


def test_equal_infinities_are_no_difference() -> None:
    wanted = torch.tensor([1.0, -torch.inf])
    assert as_sure(wanted + 2e-7, wanted, [wanted + 1e-6])
    assert not as_sure(torch.tensor([1.0, 0.0]), wanted, [wanted + 1e-6])


class Ordered(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        order = torch.argsort((x > 0).int(), dim=1, descending=True)
        return x.take_along_dim(order, dim=1)


def test_the_order_of_equal_elements_is_left_open() -> None:
    model = Ordered()
    x = torch.tensor([[-1.0, 5.0, 3.0, -2.0]])
    assert as_sure(torch.tensor([[3.0, 5.0, -2.0, -1.0]]), model(x), others(model, x))
    assert not as_sure(torch.tensor([[-50.0, 5.0, 3.0, -1.0]]), model(x), others(model, x))

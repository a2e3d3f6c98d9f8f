"""Element types that a traced program's results have in PyTorch, where they are not those of the
operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import sardonyx

BYTES = torch.randint(-9, 9, (3, 4), dtype=torch.int8)


class Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.einsum("ij->i", x),
        lambda x: torch.einsum("ij->ji", x),
        lambda x: torch.einsum("ij,kj->ik", x, x),
        lambda x: torch.einsum("ij,kl->i", x, x),
    ],
    ids=["sums of one", "no sum", "a product", "sums of two"],
)
@pytest.mark.filterwarnings("ignore")
def test_products_of_integers(function: Callable[..., Any]) -> None:
    program = sardonyx.export(Of(function), (BYTES,), capture="trace")
    torch.testing.assert_close(program(BYTES)[0], function(BYTES))


WHOLE = torch.tensor([[0, 3, 0, 1], [0, 0, 2, 200]], dtype=torch.uint8)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.any(0), x.all(1), x.any()),
        lambda x: torch.square(x > 1),
        lambda x: torch.outer(x[0], x[0] * 0.5),
        lambda x: torch.float_power(x, 2),
        lambda x: torch.copysign(x, x - 1),
        lambda x: torch.logsumexp(x.long(), 0),
        lambda x: (x.sum_to_size(1, 4), x.sum_to_size(2, 4)),
        lambda x: torch.nn.functional.margin_ranking_loss(x, x, x, 0.5, reduction="none"),
        lambda x: torch.full((2, 3), 2.7, out=torch.zeros(2, 3, dtype=torch.int64)),
    ],
    ids=[
        "truths",
        "square",
        "outer",
        "float_power",
        "copysign",
        "logsumexp",
        "sum_to_size",
        "margin",
        "out",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_results_of_other_types_than_their_operands(function: Callable[..., Any]) -> None:
    program = sardonyx.export(Of(function), (WHOLE,), capture="trace")
    wanted = function(WHOLE)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for ours, theirs in zip(program(WHOLE), wanted, strict=True):
        torch.testing.assert_close(torch.as_tensor(ours), theirs)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[0, 0].to(torch.int8) * x.shape[0],
        lambda x: x.shape[0] - x[0, 0].to(torch.int16),
        lambda x: x[0, 0].to(torch.int16) + x.shape[0] * 2 + 1,
        lambda x: x[0, 0] // x.shape[0],
        lambda x: x.half().sum() / (x.shape[0] * x.shape[1] / 2),
        lambda x: x.half().sum() * x.shape[1] ** -0.5,
        lambda x: x.double() * (x.shape[0] / 3),
        lambda x: x[0, 0] + torch.tensor(x.shape[0]),
        lambda x: x.half().sum() * x.shape[0] ** 2,
    ],
    ids=[
        "a product",
        "a number first",
        "arithmetic",
        "a quotient",
        "a half",
        "a root",
        "float64",
        "a tensor of the size",
        "a square",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_sizes_count_as_the_numbers_that_they_are_in_python(function: Callable[..., Any]) -> None:
    dims = {"x": {0: "rows", 1: "columns"}}
    program = sardonyx.export(Of(function), (BYTES,), dynamic_shapes=dims, capture="trace")
    for given in (BYTES, BYTES.repeat(2, 3)):
        torch.testing.assert_close(program(given)[0], function(given))


@pytest.mark.filterwarnings("ignore")
def test_in_a_module_that_its_user_traced_they_are_tensors() -> None:
    traced = torch.jit.trace(lambda x: x[0, 0] * x.shape[0], BYTES)
    program = sardonyx.export(traced, (BYTES,))
    assert program(BYTES)[0].dtype is traced(BYTES).dtype is torch.int64


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.ops.prims.sum(x, [0]),
        lambda x: torch.ops.prims.amax(x, [1]),
        lambda x: torch.ops.prims.div(x, x + 10),
        lambda x: torch.ops.prims.transpose(x, [1, 0]),
        lambda x: torch.ops.prims.squeeze(x[None], []),
        lambda x: torch.vstack([x[0], x]),
        lambda x: x[:, :0].chunk(3, 1)[2],
        lambda x: torch.unique(x).shape[0] + x,
        lambda x: torch.unique(x[None], dim=2),
        lambda x: torch.expand_copy(x[:, None], [3, 2, -1]),
        lambda x: torch.linalg.lu_factor_ex(x.double())[1],
        lambda x: torch.unbind_copy(x)[-1],
        lambda x: torch.tensor_split(x, torch.tensor([1, 3]), 1)[1],
        lambda x: torch.tensor_split(x, torch.tensor(3), 1)[2],
        lambda x: torch.unsafe_chunk(x, 2, 1)[1],
        lambda x: torch.nn.functional.cosine_similarity(x[0, 0].float(), x[1, 1].float(), dim=0),
        lambda x: torch.nn.functional.scaled_dot_product_attention(
            x[:, :2] / 9, x[None, :, :2] / 9, x[None] / 9
        ),
        lambda x: x[0].float().masked_scatter(x > 0, x.float()),
        lambda x: torch.nn.functional.pad(x.float()[None, None], (2, -1, 1, 2), mode="circular"),
        lambda x: torch.cov(x / 9, aweights=torch.ones_like(x[0]).double()),
        lambda x: torch.corrcoef(x[:1] / 9),
    ],
    ids=[
        "prims.sum",
        "prims.amax",
        "prims.div",
        "prims.transpose",
        "prims.squeeze",
        "vstack",
        "chunks of nothing",
        "how many are distinct",
        "distinct columns",
        "expand_copy",
        "a least size",
        "unbind_copy",
        "places in a tensor",
        "a count in a tensor",
        "unsafe_chunk",
        "cosine_similarity",
        "attention",
        "masked_scatter",
        "circular",
        "a covariance in double",
        "a correlation of one row",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_an_operator_gives(function: Callable[..., Any]) -> None:
    dims = {"x": {1: "columns"}}
    program = sardonyx.export(Of(function), (BYTES,), dynamic_shapes=dims, capture="trace")
    for given in (BYTES, BYTES.repeat(1, 2)):
        torch.testing.assert_close(program(given)[0], function(given))


@pytest.mark.filterwarnings("ignore")
def test_places_that_are_written_are_not_the_constant() -> None:
    def split(x: torch.Tensor) -> Any:
        places = torch.tensor([1, 2])
        places.add_(1)
        return torch.tensor_split(x, places, 1)[0]

    with pytest.raises(sardonyx.OnnxExporterError, match="SX1208"):
        sardonyx.export(Of(split), (BYTES,), capture="trace")


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_what_embedding_bag_gives_beside_the_bags(mode: str, ends: bool) -> None:
    class Bags(torch.nn.Module):
        def forward(self, w: torch.Tensor, i: torch.Tensor, o: torch.Tensor) -> Any:
            number = ["sum", "mean", "max"].index(mode)
            bags = torch.ops.aten.embedding_bag(w, i, o, False, number, False, None, ends)
            return bags[:2] if mode == "max" else bags

    given = torch.randn(5, 4), torch.tensor([0, 1, 2, 1, 3, 0, 2]), torch.tensor([0, 3, 7])
    dims = {"w": None, "i": {0: "indices"}, "o": {0: "offsets"}}
    program = sardonyx.export(Bags(), given, dynamic_shapes=dims, capture="trace")
    other = given[0], torch.tensor([4, 4, 1]), torch.tensor([0, 1, 1, 3])
    for each in (given, other):
        for ours, theirs in zip(program(*each), Bags()(*each), strict=True):
            torch.testing.assert_close(torch.as_tensor(ours), theirs)

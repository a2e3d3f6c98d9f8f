"""Where an operator's result has another size than captured, since a size is 0 or 1, the export
warns; where it has not, it does not."""

from __future__ import annotations

import math
import warnings

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import difference


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, y):
        return self.function(x, y, x.shape[0], y.shape[0])


def exported(function, capture, dims=("n", "m")):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(
            Calls(function),
            (torch.randn(5), torch.randn(3)),
            dynamic_shapes=({0: dims[0]}, {0: dims[1]}),
            capture=capture,
        )
    return made, [str(each.message) for each in caught]


WARNED = {
    "broadcast of what is 1 at larger sizes": lambda x, y, n, m: torch.eye((m % 2 + n) // n) * 2,
    "slice that is empty at larger sizes": lambda x, y, n, m: torch.stack(
        [x[: n - m * n + min(m, 5) - m % 4].roll(1, 0)] * 2
    ),
    "sizes that are equal in the example": lambda x, y, n, m: x[:1] * len(x[: -1 - n // 3] + y),
    "parts that are more where a size is 0": lambda x, y, n, m: x.split(max(n * m - m, 1))[0],
}
# torch.export cannot capture these.
COVARIANCES = {
    "covariance of rows": lambda x, y, n, m: torch.cov(x[:, None] * y),
    "correlation of rows": lambda x, y, n, m: torch.corrcoef(x[:, None] * y) * 2,
}


@pytest.mark.parametrize("function", COVARIANCES.values(), ids=COVARIANCES)
def test_it_warns_of_a_covariance_which_is_a_number_of_one_row(function):
    made, messages = exported(function, "auto")
    assert len(messages) == 1
    assert "test_small_results.py" in messages[0]
    values = torch.randn(4), torch.randn(6)
    torch.testing.assert_close(made(*values)[0], Calls(function)(*values))
    assert exported(function, "auto", (Dim("n", min=2, max=64), "m"))[1] == []


@pytest.mark.parametrize("capture", ["auto", "trace"])
@pytest.mark.parametrize("function", [torch.cov, torch.corrcoef])
def test_a_covariance_of_one_row_is_a_number(function, capture):
    made = sardonyx.export(function, (torch.randn(1, 5),), capture=capture)
    x = torch.randn(1, 5)
    torch.testing.assert_close(made(x)[0], function(x))


@pytest.mark.parametrize("capture", ["auto", "torch"])
@pytest.mark.parametrize("function", WARNED.values(), ids=WARNED)
def test_it_warns(function, capture):
    messages = exported(function, capture)[1]
    assert messages
    assert all("test_small_results.py" in each for each in messages)


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_an_identity_matrix_has_the_size_that_the_model_asks_for(capture):
    def function(x, y, n, m):
        return torch.eye((m % 2 + n) // n)

    made, _ = exported(function, capture)
    for n, m in ((5, 3), (1, 1), (1, 2), (7, 4)):
        values = torch.randn(n), torch.randn(m)
        assert difference(made(*values)[0], Calls(function)(*values)) is None


QUIET = {
    "slice past the end where sizes are equal": lambda x, y, n, m: x[
        : n % (n // 2 + 1) + min(n, m)
    ].roll(1, 0),
    "quotients of both": lambda x, y, n, m: torch.zeros((n + m) // 2, (n * m) // 4 + 1) + 1,
    "windows": lambda x, y, n, m: torch.ones(n * (m // 2)).view(n, m // 2, 1) + x[:, None, None],
    "parts of any size": lambda x, y, n, m: x.split(max(n, m))[0],
    "floors of quotients": lambda x, y, n, m: x.new_zeros(math.floor(n // 3 * 0.5) + 1) + 1,
    "maxima within floors": lambda x, y, n, m: x.new_zeros(
        2 // max(math.floor(n % max(math.floor(n - 0.5), 1) - 0.5), 1)
    ),
    "halves": lambda x, y, n, m: x[: n // 2] + x[n - n // 2 :],
}


@pytest.mark.parametrize("function", QUIET.values(), ids=QUIET)
def test_it_is_quiet_where_all_sizes_are_right(function):
    made, messages = exported(function, "auto")
    assert messages == []
    for n, m in ((5, 3), (1, 1), (2, 1), (1, 2), (7, 4), (9, 9), (33, 33)):
        values = torch.randn(n), torch.randn(m)
        assert difference(made(*values)[0], Calls(function)(*values)) is None


def test_a_declared_minimum_is_kept():
    def function(x, y, n, m):
        return torch.eye((m % 2 + n) // n) * 2

    assert exported(function, "auto", (Dim("n", min=2, max=64), Dim("m", min=2, max=64)))[1] == []


class ReadsPooled(torch.nn.Module):
    """Reads a size after a pooling that rounds it up."""

    def __init__(self, kernel: int, stride: int, padding: int) -> None:
        super().__init__()
        self.pool = torch.nn.MaxPool2d(kernel, stride, padding, ceil_mode=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.full((2,), self.pool(x).shape[-1])


def test_torch_export_warns_of_a_window_of_padding_alone() -> None:
    shapes = ({3: Dim.DYNAMIC},)
    images = torch.rand(2, 3, 8, 8)
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=r"ceil_mode .* window less"):
        sardonyx.export(ReadsPooled(2, 3, 1), (images,), dynamic_shapes=shapes, capture="torch")


@pytest.mark.parametrize("example", [8, 9, 10])
@pytest.mark.parametrize("window", [(3, 2, 0), (3, 2, 1), (2, 2, 0), (2, 3, 1), (1, 3, 0)])
def test_windows_are_counted_for_each_size(window: tuple[int, int, int], example: int) -> None:
    model = ReadsPooled(*window)
    images = torch.rand(2, 3, 8, example)
    made = sardonyx.export(model, (images,), dynamic_shapes=({3: Dim.DYNAMIC},))
    assert not made.notes
    for width in range(3, 12):
        x = torch.rand(2, 3, 8, width)
        torch.testing.assert_close(made(x)[0], model(x))


def test_results_that_nothing_reads_are_not_compared() -> None:
    """EmbeddingBag counts its bags on each device in another way."""
    model = torch.nn.EmbeddingBag(9, 4, mode="sum")
    dims = {"input": {0: Dim("rows"), 1: Dim("words", min=1)}}
    made = sardonyx.export(model, (torch.arange(6).view(3, 2),), dynamic_shapes=dims)
    assert not made.notes
    x = torch.arange(9).view(1, 9)
    torch.testing.assert_close(made(x)[0], model(x))

"""Sizes that Python takes for numbers while a model is traced, which the trace has as constants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.functional import avg_pool1d

import sardonyx

Program = Callable[[torch.Tensor], torch.Tensor]


class Runs(nn.Module):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.program(x)


def counts_rows(x: torch.Tensor) -> torch.Tensor:
    out = x
    for _ in range(x.shape[0]):
        out = out + 1
    return out


def repeats_a_list(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x] * x.shape[0])


def looks_up(x: torch.Tensor) -> torch.Tensor:
    return x * (1.0, 2.0, 3.0, 4.0)[x.shape[0]]


def cuts_and_views(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] - 1].view(-1, x.shape[1]) + torch.arange(x.shape[1])


def told(program: Program) -> list[tuple[str, str]]:
    made = sardonyx.export(
        Runs(program), (torch.ones(3, 2),), dynamic_shapes=({0: "rows"},), capture="trace"
    )
    return [(note.code, note.function) for note in made.notes]


@pytest.mark.parametrize("program", [counts_rows, repeats_a_list, looks_up])
@pytest.mark.filterwarnings("ignore")
def test_a_size_that_python_counts_with_is_told(program: Program) -> None:
    assert told(program) == [("SX1013", program.__name__)]


@pytest.mark.filterwarnings("ignore")
def test_sizes_that_stay_sizes_are_not() -> None:
    assert told(cuts_and_views) == []


def test_tensors_are_as_before() -> None:
    before = torch.Tensor.__index__
    sardonyx.export(Runs(cuts_and_views), (torch.ones(3, 2),), capture="trace")
    assert torch.Tensor.__index__ is before


# Where PyTorch takes a number for a list of them; tracing keeps the numbers of lists.
LISTED: dict[str, Program] = {
    "a shift": lambda x: torch.roll(x, x.size(0) - 1, 0),
    "a shift by name": lambda x: x.roll(shifts=x.size(1) // 2, dims=(1,)),
    "a window": lambda x: functional.max_pool1d(x[None], x.size(1)).squeeze(2),
    "a window of two axes": lambda x: functional.max_pool2d(x[None], x.shape),
    "a window by an imported name": lambda x: avg_pool1d(x[None], x.size(1)),
    "a size": lambda x: functional.interpolate(x[None, None], size=x.size(0)),
    "numbers": lambda x: x[:, 0].sum() * torch.tensor([[x.size(0), 1], [2.5, x.size(1)]]),
    "an index": lambda x: x.index_select(0, torch.tensor([x.size(0) - 1])),
    "a shape": lambda x: x.sum() + torch.as_tensor(x.shape),
}


def writes_a_row(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[1:] = x[0] * 2
    y[:, :2] = x[None, :, :1]
    y[None, 0] = x[1:2]
    y[torch.arange(2)] = x[None, :1] + 1
    y[x.size(0) - 1] = x[:1] * 3
    y[:, -1] = 0.5
    return y


def checks_sizes(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.size(0) > 1, lambda: "too few rows")
    pooled, places = functional.max_pool1d(x, 2, return_indices=True)
    return functional.max_unpool1d(pooled, places, 2)


# Those that tracing keeps, though it asks the size for an index.
KEPT: dict[str, Program] = {
    "a count": lambda x: x[:, 0] + torch.linspace(0, 1, x.size(0)),
    "classes": lambda x: functional.one_hot(x.argmax(1), x.size(1)),
    "a diagonal": lambda x: x.triu(x.size(1) - x.size(0)),
    "sizes of a value that is written": writes_a_row,
    "checked sizes": checks_sizes,
    "parts": lambda x: x.split(x.size(0) - 1)[1] + torch.split(x, x.size(1) // 2, 1)[0].sum(),
    "an index of rows": lambda x: x.select(0, x.size(0) - 1) + x.narrow(0, 0, x.size(0) - 1),
}
# Those of calls of operators by their names.
aten = torch.ops.aten
BY_NAME: dict[str, Program] = {
    "a list": lambda x: aten.view(x, [x.size(1), x.size(0)]),
    "a whole shape": lambda x: aten.expand(x[:1], x.shape) + aten.zeros(x.shape),
    "an overload": lambda x: aten.slice.Tensor(x, 0, None, x.size(0) - 1),
    "with other types": lambda x: aten.constant_pad_nd(x, [0, x.size(0)], 1.5),
    "several results": lambda x: aten.native_group_norm(
        x[..., None], None, None, x.size(0), x.size(1), 1, 2, 1e-5
    )[0],
    "by name": lambda x: aten.full([x.size(0), 2], 2.0, dtype=torch.float32) * x[:, :1],
    "a constant": lambda x: aten.layer_norm(x, [x.size(1)], None, None, torch.tensor(1e-5)),
    "a primitive": lambda x: torch.ops.prims.broadcast_in_dim(x[:, 0], [2, x.size(0)], [1]),
    "a form without results": lambda x: torch.split_with_sizes_copy(x, [1, x.size(0) - 1])[1],
    "fresh parts": lambda x: torch.unsafe_split(x, x.size(0) - 1)[0],
}


@pytest.mark.parametrize("program", (LISTED | KEPT | BY_NAME).values(), ids=LISTED | KEPT | BY_NAME)
def test_numbers_stay_what_they_are(program: Program) -> None:
    assert_right(program)


def assert_right(program: Program) -> None:
    made = sardonyx.export(
        Runs(program),
        (torch.ones(3, 4),),
        dynamic_shapes=({0: "rows", 1: "columns"},),
        capture="trace",
    )
    assert not made.notes
    for shape in ((5, 6), (3, 8)):
        x = torch.randn(*shape)
        (found,) = made(x)
        np.testing.assert_allclose(found.numpy(), program(x).numpy(), rtol=1e-5, atol=1e-6)


def rolls_and_pads(x: torch.Tensor) -> torch.Tensor:
    shift = torch.tensor([x.size(0) - 1])
    return functional.conv1d(torch.roll(x, x.size(0) - 1, 0)[:, None], torch.ones(1, 1, 2)) + shift


def test_functions_may_be_scripted_while_the_model_is_traced() -> None:
    program = torch.jit._script_if_tracing(rolls_and_pads)
    assert_right(program)


def strides_by_rows(x: torch.Tensor) -> torch.Tensor:
    return functional.conv1d(x[None, :1], torch.ones(1, 1, 2), stride=x.size(0) - 1)


def test_numbers_of_convolutions_are_told() -> None:
    assert told(strides_by_rows) == [("SX1013", strides_by_rows.__name__)]
    assert type(functional.conv1d) is type(torch.conv1d) is type(torch.relu)


def test_windows_of_a_traced_size() -> None:
    def windows(x: torch.Tensor) -> torch.Tensor:
        return functional.unfold(x, (x.shape[2] // 2, 1), dilation=(1, 2), padding=(0, 1))

    example = torch.randn(1, 2, 6, 5)
    shapes = {"x": {2: "h"}}
    program = sardonyx.export(Runs(windows), (example,), dynamic_shapes=shapes, capture="trace")
    for height in (6, 8, 11):
        x = torch.randn(1, 2, height, 5)
        (found,) = program(x)
        torch.testing.assert_close(found, windows(x))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: functional.max_pool2d(x, (x.shape[2] // 2, 1)),
        lambda x: functional.normalize(x, p=x.shape[2]),
    ],
)
def test_a_traced_size_where_a_number_must_be_known_is_not_the_examples(program: Program) -> None:
    example = torch.randn(1, 2, 6, 5)
    shapes = {"x": {2: "h"}}
    with pytest.raises(sardonyx.ConversionError, match=r"SX1302.*known"):
        sardonyx.export(Runs(program), (example,), dynamic_shapes=shapes, capture="trace")


@pytest.mark.filterwarnings("ignore")
def test_methods_that_python_has_of_its_own_keep_their_parameters() -> None:
    model = Runs(lambda x: x.norm(dim=1) + x.norm(2, 1) + x.norm(p=1))
    made = sardonyx.export(
        model, (torch.ones(3, 2),), dynamic_shapes=({0: "rows"},), capture="trace"
    )
    x = torch.randn(5, 2)
    torch.testing.assert_close(made(x)[0], model(x))

"""Branches of Python on sizes, and real arithmetic of sizes: the model gives what eager PyTorch
gives at every size."""

from __future__ import annotations

import itertools
import math
import warnings
from math import log2, sqrt

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import Calls, difference

SIZES = (0, 1, 2, 3, 5, 6, 7, 33)


def halvings(x):
    n, count = x.shape[1], 0
    while n > 1:
        n //= 2
        count += 1
    return x * count


def padded(x):
    if x.shape[1] >= 5:
        return x[:, :5]
    return torch.nn.functional.pad(x, (0, 5 - x.shape[1]))


def three_ways(x):
    if x.shape[1] < 3:
        return x + 1
    return x + 2 if x.shape[1] < 6 else x + 3


def checks_behind_a_branch(x):
    if x.shape[1] < 6:
        assert x.shape[1] < 8
        return x + 1
    torch._check(x.shape[1] >= 3)
    return x - 1


BRANCHES = {
    "bound": lambda x: x * 2 if x.shape[1] > 5 else x - 1,
    "empty": lambda x: x * 2 if x.numel() > 0 else x.new_ones(3, 4),
    "remainder": lambda x: (
        x.reshape(x.shape[0], -1, 2).sum(-1) if x.shape[1] % 2 == 0 else x[:, :-1]
    ),
    "equal": lambda x: x @ x if x.size(0) == x.size(1) else x.sum(1, keepdim=True),
    "no columns": lambda x: x.new_ones(2) if x.shape[1] == 0 else x.max(1).values,
    "one column": lambda x: x * 3 if x.shape[1] == 1 else x - x.mean(1, keepdim=True),
    "two questions": lambda x: x + 1 if x.shape[1] > 2 and x.shape[0] < 4 else x,
    "number by size": lambda x: x[:, : (3 if x.shape[1] > 3 else 1)],
    "by either size": lambda x: torch.arange(x.shape[1] if x.shape[1] > 4 else x.shape[0]),
    "padded": padded,
    "three ways": three_ways,
    "halvings": halvings,
    "checks": checks_behind_a_branch,
}
REALS = {
    "log": lambda x: x * math.log(x.shape[1] / 16 + 1),
    "log of a base": lambda x: x * math.log(x.shape[1] + 1, 3),
    "int": lambda x: x[:, : int(x.shape[1] * 0.25)],
    "sqrt": lambda x: x / sqrt(x.shape[1] + 1),
    "float": lambda x: x / float(x.shape[1] + 1),
    "ceil": lambda x: x[:, : math.ceil(x.shape[1] / 3)],
    "power": lambda x: x * (x.shape[1] ** 0.5),
    "round": lambda x: x[:, : round(x.shape[1] * 0.3)],
    "exp": lambda x: x * math.exp(-x.shape[1] / 8),
    "int of log2": lambda x: x * int(log2(x.shape[1] + 1)),
    "branch on a real": lambda x: x * 2 if x.shape[1] / 3 > 1.5 else x,
}
DIMS = {
    "name": ("rows", "columns"),
    "Dim": (Dim("rows", min=0, max=64), Dim("columns", min=0, max=64)),
    "AUTO": (Dim.AUTO, Dim.AUTO),
    "DYNAMIC": (Dim.DYNAMIC, Dim.DYNAMIC),
}


@pytest.mark.parametrize("dims", DIMS.values(), ids=DIMS)
@pytest.mark.parametrize("function", [*BRANCHES.values(), *REALS.values()], ids=[*BRANCHES, *REALS])
def test_every_size_is_right(function, dims):
    model = Calls(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(
            model, (torch.randn(3, 8),), dynamic_shapes=(dict(enumerate(dims)),), capture="quick"
        )
    assert {note.code for note in made.notes} <= {"SX1017", "SX1018"}
    for rows, columns in itertools.product(SIZES, SIZES):
        x = torch.randn(rows, columns)
        try:
            wanted = model(x)
        except RuntimeError:  # a view of no elements with -1
            continue
        assert difference(torch.as_tensor(made(x)[0]), wanted) is None, (rows, columns)


def test_more_ways_than_runs_are_warned_of():
    def many(x):
        for bound in range(3, 30):
            x = x * 2 if x.shape[0] > bound else x + 1
        return x

    with pytest.warns(sardonyx.errors.SpecializationWarning, match="makes it 8"):
        sardonyx.export(many, (torch.ones(8),), dynamic_shapes=({0: "n"},))


@pytest.mark.parametrize(
    "asks",
    [lambda x: x.shape[0] > 0, lambda x: x.numel() != 0, lambda x: x.shape[0] % 2 == 0],
    ids=["size", "elements", "remainder"],
)
def test_conditions_of_no_rows_stay(asks):
    def chosen(x):
        return torch.cond(asks(x), lambda x: x.sum() + 1, lambda x: x.sum() - 1, (x,))

    shapes = ({0: Dim("rows", min=0, max=9)},)
    made = sardonyx.export(chosen, (torch.ones(4, 2),), dynamic_shapes=shapes, capture="quick")
    for rows in (0, 1, 2, 7):
        x = torch.ones(rows, 2)
        assert made(x)[0] == chosen(x)


def test_conditions_of_torch_exports_programs_hold_for_no_rows(tmp_path):
    class Chosen(torch.nn.Module):
        def forward(self, x):
            some = torch.sym_not(x.shape[0] == 0)
            x = torch.cond(x.numel() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
            x = torch.cond(some, lambda x: x.sum() + 1, lambda x: x.sum() - 1, (x,))
            return torch.cond(x.dim() < 5, lambda x: x * 2, lambda x: x, (x,))

    shapes = ({0: Dim("rows", min=0, max=9)},)
    program = torch.export.export(Chosen(), (torch.ones(4, 2),), dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "chosen.pt2")
    for made in (sardonyx.export(program), sardonyx.convert(tmp_path / "chosen.pt2")):
        assert [node.op_type for node in made.model_proto.graph.node].count("If") == 2
        for rows in (0, 1, 2, 7):
            x = torch.ones(rows, 2)
            assert made(x)[0] == Chosen()(x)


def test_conditions_that_ranges_decide_are_no_branches():
    def chosen(x):
        return torch.cond(x.numel() > 4, lambda x: x + 1, lambda x: x - 1, (x,))

    shapes = ({0: Dim("rows", min=3)},)
    made = sardonyx.export(chosen, (torch.ones(4, 2),), dynamic_shapes=shapes, capture="torch")
    assert [node.op_type for node in made.model_proto.graph.node] == ["Add"]


# --- examples of one row


def of_one_row(x, theta):
    return torch.nn.functional.affine_grid(theta, x.shape, align_corners=False)


@pytest.mark.parametrize(
    "dims",
    [
        ({0: "b", 2: "h", 3: "w"}, {0: "b"}),
        ({0: Dim("b"), 2: Dim("h", min=1), 3: Dim("w", min=1)}, {0: Dim("b")}),
        ({0: Dim.DYNAMIC, 2: Dim.DYNAMIC, 3: Dim.DYNAMIC}, {0: Dim.DYNAMIC}),
        ({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO}, {0: Dim.AUTO}),
    ],
)
@pytest.mark.parametrize("rows", [1, 2])
def test_grids_keep_every_kind_of_dim(rows, dims):
    made = sardonyx.export(
        of_one_row, (torch.randn(rows, 2, 6, 7), torch.randn(rows, 2, 3)), dynamic_shapes=dims
    )
    inputs = torch.randn(3, 2, 5, 4), torch.randn(3, 2, 3)
    torch.testing.assert_close(made(*inputs)[0], of_one_row(*inputs))


def test_an_example_of_one_row_takes_both_sides():
    def by_rows(x):
        return x * 2 if x.shape[0] == 1 else x - 1

    made = sardonyx.export(by_rows, (torch.ones(1, 3),), dynamic_shapes=({0: "rows"},))
    for rows in (0, 1, 2, 7):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(made(x)[0], by_rows(x))


def test_a_number_of_data_is_the_end_of_several_ranges():
    def ranges(end):
        return torch.arange(end), torch.arange(0, end)

    made = sardonyx.export(ranges, (torch.tensor(6.2),))
    for end in (4.5, 7.0):
        for got, wanted in zip(made(torch.tensor(end)), ranges(torch.tensor(end)), strict=True):
            assert difference(torch.as_tensor(got), wanted) is None


class TakesTheLastRows(torch.nn.Module):
    """It asks for a number that few sizes give, far from the numbers in the question."""

    def forward(self, x):
        return x[-9:] if round(x.shape[0] * 0.25) == 8 else x * 2


def test_a_question_that_few_sizes_answer_otherwise_is_a_branch():
    model = TakesTheLastRows()
    made = sardonyx.export(model, (torch.randn(5, 2),), dynamic_shapes=({0: Dim.DYNAMIC},))
    for rows in (0, 1, 2, 7, 31, 33, 35):
        x = torch.randn(rows, 2)
        assert difference(made(x)[0], model(x)) is None, rows


def halves_and_steps(x):
    long = x.flatten()
    twice = long * (long.size(0) - 0.5)
    if x.shape[-1] > 8:
        long = long + math.ceil((abs(long.shape[-1]) + 1) ** 0.5)
    else:
        twice = torch.cat([twice, twice])
    if long[-2 : -(min(twice.size(0), 3))].shape[0] > 0:
        twice = torch.cat([twice, twice])
    else:
        long = long[-9 : 1 : max(twice.shape[-1], 1)]
    return twice


def test_a_side_of_a_branch_is_kept_where_a_size_is_computed_of_real_numbers():
    model = Calls(halves_and_steps)
    made = sardonyx.export(model, (torch.randn(2, 5),), dynamic_shapes=({1: Dim("n", min=0)},))
    for columns in (0, 1, 2, 5, 8, 9, 33):
        x = torch.randn(2, columns)
        assert difference(made(x)[0], model(x)) is None, columns


# --- branches on several sizes


class Windows(torch.nn.Module):
    """Positions are interpolated but for the size of their table; then windows of windows are
    pooled: sides have to be multiples of 4."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(1, 8, 8, 3))

    def forward(self, x):
        batch, height, width, channels = x.shape
        if height * width == 64 and height == width:
            positions = self.table
        else:
            table = self.table.permute(0, 3, 1, 2)
            positions = torch.nn.functional.interpolate(table, (height, width), mode="bilinear")
            positions = positions.permute(0, 2, 3, 1)
        x = (x + positions).view(batch, height, width, channels)
        for _ in range(2):
            height, width = height // 2, width // 2
            x = x.view(batch, height, 2, width, 2, channels).permute(0, 2, 4, 1, 3, 5)
            x, batch = x.flatten(0, 2), batch * 4
        x = x.reshape(-1, 16, height * width, channels).amax(1)
        return torch.nn.functional.adaptive_avg_pool1d(x.transpose(1, 2), 1)


@pytest.mark.parametrize("example", [(8, 8), (12, 8)])
@pytest.mark.parametrize("dims", [("h", "w"), (4 * Dim("h"), 4 * Dim("w"))], ids=["name", "Dim"])
def test_images_of_windows(example, dims):
    model = Windows().eval()
    shapes = ({0: "batch" if dims[0] == "h" else Dim("batch"), 1: dims[0], 2: dims[1]},)
    made = sardonyx.export(
        model, (torch.randn(2, *example, 3),), dynamic_shapes=shapes, capture="quick"
    )
    assert {note.code for note in made.notes} <= {"SX1017", "SX1018"}
    for batch, *sides in ((1, 8, 8), (2, 4, 16), (3, 16, 4), (1, 4, 4), (2, 16, 16), (1, 12, 20)):
        x = torch.randn(batch, *sides, 3)
        assert difference(made(x)[0], model(x)) is None, (batch, *sides)


class Attends(torch.nn.Module):
    """Queries of one input, keys of another: behind the branch, both have to have as many rows."""

    def forward(self, x, y, mask):
        x = x * 2 if x.shape[1] > 5 else x - 1
        q, k = (each.unflatten(2, (2, 4)).transpose(1, 2) for each in (x, y))
        weighted = torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask)
        return weighted.transpose(1, 2).flatten(2) + x


def test_sizes_that_have_to_be_equal_behind_a_branch():
    def inputs(rows, length, keys):
        mask = torch.randn(rows, 1, length, keys)
        return torch.randn(rows, length, 8), torch.randn(rows, keys, 8), mask

    axes = [{0: Dim.AUTO, 1: Dim.AUTO}] * 2
    dims = (*axes, {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO})
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(Attends(), inputs(3, 8, 6), dynamic_shapes=dims, capture="quick")
    for sizes in itertools.product((1, 2, 5), (1, 5, 6, 9), (1, 2, 7)):
        given = inputs(*sizes)
        assert difference(made(*given)[0], Attends()(*given)) is None, sizes


class Shifts(torch.nn.Module):
    """Relative positions, as Transformer-XL shifts them."""

    def forward(self, query, key, position, memory):
        if memory.shape[1]:
            key = torch.cat([memory, key], 1)
        content = query @ key.transpose(1, 2)
        moved = query @ position.transpose(1, 2)
        rows, length, width = moved.shape
        moved = moved.reshape(rows, width, length)[:, 1:].reshape(rows, length, width - 1)
        return content + moved[:, :, : content.shape[2]]


def test_a_view_behind_a_branch_has_as_many_elements():
    def inputs(rows, length, memory):
        many = 2 * length + memory
        return tuple(torch.randn(rows, each, 4) for each in (length, length, many, memory))

    axes = {0: Dim.AUTO, 1: Dim.AUTO}
    dims = (axes,) * 4
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(Shifts(), inputs(3, 6, 5), dynamic_shapes=dims, capture="quick")
    for sizes in itertools.product((1, 2, 5), (1, 2, 7), (0, 1, 4)):
        given = inputs(*sizes)
        assert difference(made(*given)[0], Shifts()(*given)) is None, sizes


class Decodes(torch.nn.Module):
    """Two caches of one batch: none of the ways where one alone has no rows is taken."""

    def forward(self, x, own, other):
        x = x * 2 if own.numel() == 0 else x + own.sum(1, keepdim=True)
        x = x - 1 if other.numel() == 0 else x + other.sum(1, keepdim=True)
        return x.expand(own.shape[0], *x.shape[1:]) * other.shape[0]


def test_ways_that_no_sizes_lead_to():
    def inputs(rows, *lengths):
        return tuple(torch.randn(rows, each, 4) for each in (1, *lengths))

    dims = ({0: Dim.AUTO}, *[{0: Dim.AUTO, 1: Dim.AUTO}] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(Decodes(), inputs(3, 6, 5), dynamic_shapes=dims, capture="quick")
    for sizes in itertools.product((1, 2, 5), (0, 1, 6), (0, 1, 5)):
        given = inputs(*sizes)
        assert difference(made(*given)[0], Decodes()(*given)) is None, sizes

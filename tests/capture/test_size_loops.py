"""Loops of Python over dynamic sizes: the model gives what eager PyTorch gives at every size."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import difference

SIZES = ((3, 4), (1, 4), (5, 1), (1, 1), (6, 7), (0, 3), (2, 0))


def writes_rows(x):
    y = torch.zeros_like(x)
    for i in range(x.shape[0]):
        y[i] = x[i] * 2 + 1
    return y


def carries_a_sum(x):
    total = torch.zeros(x.shape[1])
    for i, row in enumerate(x):
        total = total * 0.5 + row * i
    return total


def carries_a_number(x):
    start, y = 0, x.new_zeros(x.shape[0] * 2, x.shape[1])
    for row in x:
        y[start : start + 2] = row
        start += 2
    return y * start


def two_tensors(x):
    y, z = torch.zeros_like(x), x.flip(0)
    for i, (one, other) in enumerate(zip(x, z, strict=True)):
        y[i] = one - 2 * other
    return y


def backwards(x):
    state = torch.zeros(x.shape[1])
    states = torch.zeros_like(x)
    for i in range(x.shape[0] - 1, -1, -1):
        state = torch.tanh(state + x[i])
        states[i] = state
    return states


def branches_on_data(x):
    y = torch.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            value = x[i, j]
            changed = value * 2 if value > 0 else value - 1
            y[i, j] = changed
    return y


def takes_what_data_say(x):
    y = torch.full((x.shape[0], x.shape[1] + 2), -1.0)
    for i in range(x.shape[0]):
        found = torch.nonzero(x[i] > 0).flatten()
        count = found.shape[0] // 2
        if count > 0:  # noqa: SIM108 (a branch with statements)
            taken = x[i].index_select(0, found[: count * 2])
        else:
            taken = torch.tensor([])
        y[i, : taken.numel()] = taken
    return y


def goes_on(x):
    y = torch.zeros(x.shape[0])
    for i, row in enumerate(x):
        if row.sum() < 0:
            continue
        y[i] = row.sum()
    return y


def branch_behind(x):
    y = torch.zeros_like(x)
    for i in range(x.shape[0]):
        y[i] = x[i] * i
    return y + 1 if y.sum() > 0 else y - 1


def writes_to_its_items(x):
    y = x + 1
    for row in y:
        row.add_(2)
        row.mul_(3)
    return y


def adds_in_place(x):
    total = torch.zeros(x.shape[1])
    same = total
    for row in x:
        total += row
    return total * 2 + same


def adds_to_a_column(x):
    y = x.clone()
    first = y[:, :1]
    for i in range(x.shape[0]):
        first[i] += i
        y[i] *= 2
    return y, first


def joins_branches(x):
    y, low = torch.zeros_like(x), torch.zeros(())
    for i, row in enumerate(x):
        if row.sum() > 0:
            y[i] = row
        else:
            low = low + row.sum()
    return y + low


def collects_rows(x):
    rows = []
    state = torch.zeros(x.shape[1])
    for i in range(x.shape[0]):
        state = torch.tanh(state + x[i])
        rows.append(state)
    return torch.stack(rows, dim=-1)


def collects_parts(x):
    y = x.unsqueeze(0).repeat(2, 1, 1)
    parts = []
    sums = []
    for row in x:
        parts.append((y + row).transpose(0, 1))
        sums.append(row.sum() if row.sum() > 0 else row.min())
    return torch.cat(parts, -1) * torch.stack(sums).mean()


def collects_in_a_loop(x):
    y = torch.zeros(x.shape[0], x.shape[1])
    for i in range(x.shape[0]):
        values = []
        for j in range(x.shape[1]):
            values.append(x[i, j] * j)
        y[i] = torch.stack(values)
    return y


def visits_what_data_choose(x):
    both = x.new_empty(x.shape[0], x.shape[1], 2)
    both[..., 0], both[..., 1] = x, x.sin()
    rows = both.transpose(0, 1).contiguous().sum(-1)
    chosen = (rows * 2).long() % 3
    factors = torch.tensor([0.5, -2.0, 3.0])
    sums = torch.zeros_like(rows).flatten()
    for number in torch.unique(chosen).unsqueeze(-1):
        index = int(number.item())
        places = torch.where(chosen.flatten() == index)[0]
        values = rows.flatten()[places]
        sums.index_add_(0, places, values if index >= 2 else values * factors[index])
    return sums.view(rows.shape)


def runs_once(x):
    # For sizes of 2 and more, PyTorch takes this count for 1, and the only index for 0.
    y = x * 2
    for i in range(-(-(x.shape[1] // max(x.shape[1], 1)) // 5) % 3):
        y = y.flip(0) + i
    return y


LOOPS = {
    each.__name__: each
    for each in (
        writes_rows,
        carries_a_sum,
        carries_a_number,
        two_tensors,
        backwards,
        branches_on_data,
        takes_what_data_say,
        goes_on,
        branch_behind,
        writes_to_its_items,
        adds_in_place,
        joins_branches,
        collects_rows,
        collects_parts,
        collects_in_a_loop,
        visits_what_data_choose,
        runs_once,
    )
}


class Loop(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def exported(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dims = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
        return sardonyx.export(model, (torch.randn(3, 4),), dynamic_shapes=(dims,))


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_over_a_size_is_a_loop(name):
    model = Loop(LOOPS[name])
    program = exported(model)
    assert "Loop" in {node.op_type for node in program.model_proto.graph.node}
    torch.manual_seed(0)
    for rows, columns in SIZES:
        x = torch.randn(rows, columns)
        if "collects" in name and 0 in (rows, columns):  # torch.stack() of nothing raises
            continue
        assert difference(program(x)[0], model(x)) is None, (rows, columns)


def test_a_loop_that_writes_to_two_views_of_a_tensor_is_none():
    with pytest.raises(sardonyx.OnnxExporterError, match="for i in range"):
        exported(Loop(adds_to_a_column))


def collects_some(x):
    rows = []
    for row in x:
        if row.sum() < 100:
            rows.append(row + 0)
    return torch.stack(rows)


def reads_what_it_collects(x):
    rows = []
    for row in x:
        rows.append(row + 0)
    return torch.stack(rows) * len(rows)


def collects_twice(x):
    rows = []
    for row in x:
        rows.append(row + 0)
    for row in x:
        rows.append(row * 2)
    return torch.stack(rows)


def collects_other_sizes(x):
    rows = []
    for i in range(x.shape[0]):
        rows.append(x[: i + 1])
    return torch.cat(rows)


@pytest.mark.parametrize(
    "function", [collects_some, reads_what_it_collects, collects_twice, collects_other_sizes]
)
def test_lists_that_no_tensor_is_made_of(function):
    with pytest.raises(sardonyx.OnnxExporterError, match=r"row in x|in range|data-dependent"):
        exported(Loop(function))


def test_a_loop_that_need_not_be_one_is_none():
    program = exported(Loop(lambda x: sum(x + i for i in range(3))))
    assert "Loop" not in {node.op_type for node in program.model_proto.graph.node}


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.state = {"count": 0}

    def forward(self, x):
        y = torch.zeros_like(x)
        for i in range(x.shape[0]):
            self.count_up()
            y[i] = x[i]
        return y * self.state["count"]

    def count_up(self):
        self.state["count"] += 1


def test_a_body_that_changes_an_object_is_none_of_a_loop():
    with pytest.raises(sardonyx.OnnxExporterError, match="for i in range"):
        exported(Counts())


def last_element(x):
    y = torch.zeros_like(x)
    for i in range(x.shape[0]):
        row = x[i]
        y[i] = row
    return y + row


def test_what_only_the_last_run_of_a_body_assigned_is_no_result_of_it():
    with pytest.raises(sardonyx.OnnxExporterError, match="for i in range"):
        exported(Loop(last_element))


def test_the_loops_code_is_put_back():
    before = writes_rows.__code__
    exported(Loop(writes_rows))
    assert writes_rows.__code__ is before
    assert not any(name.startswith("__sardonyx") for name in writes_rows.__globals__)


def other_number_of_results(x):
    if x.shape[0] % 2 == 0:
        return (x * 3,)
    for _ in range(min(x.shape[0] ** 2, 3)):
        y = x.view(x.shape[0], -1)
    return y, x + 1


def set_in_the_loop_of_the_other_side(x):
    if x.shape[0] % 2 == 1:
        y = x
        for i in range(x.shape[0]):
            y = y * 2 + i
        return y
    for i in range(x.shape[1]):
        z = x * 3 + i
    return z


@pytest.mark.parametrize("function", [other_number_of_results, set_in_the_loop_of_the_other_side])
def test_a_variable_of_a_loop_that_may_have_no_runs_leaves_out_no_side(function):
    # The capture raises behind such a loop where eager PyTorch goes on.
    dims = {0: Dim.AUTO, 1: Dim.AUTO}
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=r"shape\[0\]|dimension 0"):
        program = sardonyx.export(Loop(function), (torch.randn(5, 4),), dynamic_shapes=(dims,))
    x = torch.randn(5, 4)
    wanted = Loop(function)(x)
    results = wanted if isinstance(wanted, tuple) else (wanted,)
    for one, other in zip(program(x), results, strict=True):
        assert difference(one, other) is None

"""Statements `if` whose bodies run for all sizes, and those whose bodies may not."""

from __future__ import annotations

import sys
import warnings

import pytest
import torch
from torch.export import Dim
from torch.nn import functional

import sardonyx
from tests.harness import Calls, difference

SIZES = (2, 3, 4, 5, 7, 8, 12, 33)


def padded_to_patches(x):
    width = x.shape[1]
    if width % 4 != 0:
        amounts = (0, 4 - width % 4)
        x = functional.pad(x, amounts)
    return x.unflatten(1, (-1, 4)).sum(-1)


def padded_for_merging(x):
    height, width = x.shape
    if (height % 2 == 1) or (width % 2 == 1):
        x = functional.pad(x, (0, width % 2, 0, height % 2))
    return x[::2, ::2] + x[1::2, 1::2]


def cropped_by_a_named_test(x):
    height, width = x.shape
    below, beside = (4 - height % 4) % 4, (4 - width % 4) % 4
    x = functional.pad(x, (0, beside, 0, below)).roll((1, 1), (0, 1))
    is_padded = below > 0 or beside > 0
    if is_padded:
        x = x[:height, :width].contiguous()
    return x * 2


def padded_where_both_are_odd(x):
    height, width = x.shape
    if height % 2 == 1 and width % 2 == 1:
        x = functional.pad(x, (0, (height % 2) * (width % 2)))
    return x + 1


def number_is_the_same(x):
    columns = x.shape[1]
    if x.shape[1] % 4 != 0:
        columns = 4 * ((x.shape[1] + 3) // 4)
    return x.new_ones(columns)


def padded_by_a_fixed_amount(x):
    if x.shape[1] % 4 != 0:
        x = functional.pad(x, (0, 4))
    return x


def scaled(x):
    if x.shape[1] % 4 != 0:
        x = x * 2
    return x


def number_is_read_later(x):
    factor = 2
    if x.shape[1] % 4 != 0:
        factor = 3
    return x * factor


def assigned_before_and_read_later(x):
    x = x + 1
    if x.shape[1] % 4 != 0:
        x = x - 3
    return x * 2


def another_part_is_false(x, flag=False):
    if x.shape[1] % 4 != 0 or flag:
        x = functional.pad(x, (0, 4 - x.shape[1] % 4))
    return x * 2


def calls_the_models_code(x):
    if x.shape[1] % 4 != 0:
        x = scaled(x)
    return x


def pads_in_a_loop(x):
    for _ in range(3):
        if x.shape[1] % 2 == 1:
            x = functional.pad(x, (0, x.shape[1] % 2))
        x = x[:, ::2] + x[:, 1::2]
    return x


def sizes_in_a_tensor(x):
    height, width = x.shape
    if width % 2 != 0:
        x = functional.pad(x, (0, 2 - width % 2))
    sizes = torch.as_tensor([(height, x.shape[1])], dtype=torch.long)
    return x.sum() + sizes.prod(1)


def last_row_of_a_convolution(x):
    height, width = x.shape
    if width % 4 != 0:
        x = functional.pad(x, (0, 4 - width % 4))
    if height % 4 != 0:
        x = functional.pad(x, (0, 0, 0, 4 - height % 4))
    x = functional.conv2d(x[None, None], torch.ones(1, 1, 4, 4), stride=4)[0, 0]
    places = torch.ones_like(x).cumsum(0)
    return x + places / places[-1:, :]


factor = 2


def global_is_assigned(x):
    global factor  # noqa: PLW0603 (the case under test assigns one)
    factor = 2
    if x.shape[1] % 4 != 0:
        factor = 3
    return x * other_function()


def other_function():
    return factor


def shapes_are_compared(x):
    halved = functional.interpolate(x[None, None, ::2, ::2], scale_factor=2.0)[0, 0]
    if halved.shape != x.shape:
        halved = functional.interpolate(halved[None, None], size=x.shape)[0, 0]
    return halved * 2


def contiguous_where_large(x):
    """As the upsampling of diffusers."""
    if x.size(0) >= 64:
        x = x.contiguous()
    if x.numel() * 2 > pow(2, 31):
        x = x.contiguous()
    return x * 2


CONVERTED = (
    contiguous_where_large,
    sizes_in_a_tensor,
    last_row_of_a_convolution,
    padded_to_patches,
    padded_for_merging,
    cropped_by_a_named_test,
    padded_where_both_are_odd,
    number_is_the_same,
    pads_in_a_loop,
)
BRANCHES = (
    padded_by_a_fixed_amount,
    scaled,
    number_is_read_later,
    assigned_before_and_read_later,
    another_part_is_false,
    calls_the_models_code,
    shapes_are_compared,
    global_is_assigned,
)


def exported(function):
    dims = ({0: Dim.DYNAMIC, 1: Dim.DYNAMIC},)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        return sardonyx.export(
            Calls(function), (torch.randn(6, 8),), dynamic_shapes=dims, capture="quick"
        )


def assert_right(made, function):
    for rows in SIZES:
        for columns in SIZES:
            x = torch.randn(rows, columns)
            assert difference(torch.as_tensor(made(x)[0]), function(x)) is None, (rows, columns)


@pytest.mark.parametrize("function", CONVERTED, ids=lambda each: each.__name__)
def test_a_body_that_changes_nothing_otherwise_is_no_branch(function):
    made = exported(function)
    assert not made.notes
    assert "If" not in {node.op_type for node in made.model_proto.graph.node}
    assert_right(made, function)


@pytest.mark.parametrize("function", BRANCHES, ids=lambda each: each.__name__)
def test_a_body_that_changes_something_is_a_branch(function):
    made = exported(function)
    assert {note.code for note in made.notes} == {"SX1018"}
    assert_right(made, function)


def written_to(x):
    before = x * 1
    y = before
    if x.shape[1] % 4 != 0:
        y = functional.pad(before, (0, 4 - x.shape[1] % 4))
    y.add_(1)
    return before


def test_a_write_behind_the_body_is_never_lost():
    model = Calls(written_to)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = sardonyx.export(
            model, (torch.randn(6, 8),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},)
        )
    x = torch.randn(6, 8)
    assert difference(torch.as_tensor(made(x)[0]), written_to(x)) is None


def test_a_debugger_s_trace_function_stays():
    seen = []

    def trace(frame, event, argument):
        seen.append(event)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exported(padded_to_patches)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert seen


def declined_for_small_sizes(x):
    if min(x.shape) <= 4:
        x.data_ptr()
        return x * 3
    return x * 2


def raises_for_most_small_sizes(x):
    if min(x.shape) <= 4:
        return x[:2] * x[:2].new_ones(x.shape[1] - 1 + (x.shape[0] + 1) // 5)
    return x[:2] * 2


def test_a_side_that_cannot_be_captured_is_left_out_with_a_warning():
    dims = ({0: Dim.DYNAMIC, 1: Dim.DYNAMIC},)
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=r"x.shape\[0\]"):
        made = sardonyx.export(
            Calls(declined_for_small_sizes), (torch.randn(6, 8),), dynamic_shapes=dims
        )
    assert {note.code for note in made.notes} == {"SX1015"}
    for rows, columns in ((5, 5), (6, 9), (33, 7)):
        x = torch.randn(rows, columns)
        assert difference(torch.as_tensor(made(x)[0]), x * 2) is None, (rows, columns)


def test_a_side_that_raises_for_most_sizes_is_right_for_the_others():
    made = exported(raises_for_most_small_sizes)
    for rows, columns in ((3, 7), (4, 4), (5, 4), (6, 9), (33, 7)):
        x = torch.randn(rows, columns)
        try:
            wanted = raises_for_most_small_sizes(x)
        except RuntimeError:
            continue
        assert difference(torch.as_tensor(made(x)[0]), wanted) is None, (rows, columns)


class Releases(torch.nn.Module):
    """Calls a layer that rejects some sizes, and ends with what is to be done in any case, as the
    models of diffusers that scale adapters."""

    def __init__(self):
        super().__init__()
        self.norm, self.scale = torch.nn.GroupNorm(4, 4), 1.0

    def forward(self, x):
        try:
            self.scale = 2.0
            if x.shape[2] % 2 != 0:
                x = x * 3
            return self.norm(x)
        finally:
            if self.scale != 1.0:
                self.scale = 1.0


def test_what_raises_within_finally_is_no_branch():
    model, dims = Releases(), ({0: Dim.DYNAMIC, 2: Dim.DYNAMIC},)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(model, (torch.randn(2, 4, 6),), dynamic_shapes=dims)
    for rows, columns in ((1, 2), (2, 7), (3, 6), (1, 5)):
        x = torch.randn(rows, 4, columns)
        assert difference(torch.as_tensor(made(x)[0]), model(x)) is None, (rows, columns)


def caught(x):
    try:
        if x.shape[0] == 1:
            raise ValueError
        return x * 2
    except ValueError:
        return x * 3


def returns_in_finally(x):
    try:
        if x.shape[0] == 1:
            raise ValueError
        x = x * 2
    finally:
        return x * 3  # noqa: B012 (the case under test)


@pytest.mark.parametrize("function", [caught, returns_in_finally])
def test_what_is_caught_is_a_branch_or_warned_of(function):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(
            Calls(function), (torch.randn(3, 2),), dynamic_shapes=({0: Dim.DYNAMIC},)
        )
    for rows in (1, 2, 5):
        x = torch.randn(rows, 2)
        is_right = difference(torch.as_tensor(made(x)[0]), function(x)) is None
        assert is_right or (rows == 1 and told), rows

"""Control flow, regions and data-dependent sizes in fake-tensor tracing: it gives eager PyTorch's
answers, and torch.export's program."""

from __future__ import annotations

import copy
import functools

import pytest
import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch.export import Dim
from torch.utils import _pytree as pytree

import sardonyx
from tests.control_flow.test_control_flow import PROGRAMS
from tests.harness import difference

from .comparison import Subject
from .comparison import difference as difference_of_programs


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_computes_what_eager_pytorch_does(program):
    module = program.module()
    example = copy.deepcopy(program.example)
    made = sardonyx.export(module, example, dynamic_shapes=program.dynamic, capture="quick")
    for inputs in (program.example, *program.others):
        got = made(*copy.deepcopy(inputs))
        wanted = pytree.tree_leaves(module(*copy.deepcopy(inputs)))
        # Inputs that it writes to come behind its results.
        for one, other in zip(got, wanted, strict=False):
            assert difference(torch.as_tensor(one), torch.as_tensor(other)) is None
        assert len(got) >= len(wanted)


# One of each kind; `make capture-sweep` has all of them.
ALIKE = [
    *("captures_what_is_outside", "writes_in_one_branch_only", "counts_in_an_integer"),
    *("is_a_selective_state_space", "nests_autocast", "vectorizes_twice", "vectorizes_scalars"),
    *("writes_in_a_nested_branch", "writes_without_gradients", "writes_to_what_it_captures"),
]


# Bodies that write to what was made outside of them.
WRITING = {"writes_in_one_branch_only", "writes_in_a_nested_branch", "writes_to_what_it_captures"}


class Writing(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        torch.cond(x.sum() > 0, lambda: y.add_(1).sum(), lambda: y.sum() + 1, ())
        return y


@functools.cache
def takes_writes_in_bodies() -> bool:
    """Whether the installed torch.export does, which some releases compile, and refuse."""
    try:
        Subject(Writing(), (torch.randn(3),)).by_torch()
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", ALIKE)
def test_program_is_torch_exports(name):
    program = next(each for each in PROGRAMS if each.name == name)
    subject = Subject(program.module(), program.example, shapes=program.dynamic)
    if name in WRITING and not takes_writes_in_bodies():
        pytest.skip("this torch.export refuses bodies that write to what was made outside")
    assert not difference_of_programs(subject.by_torch(), subject.quickly())


class Chosen(torch.nn.Module):
    """As many as data say, known to be as many of two tensors."""

    def forward(self, x, y):
        mask = x > 0
        places = mask.nonzero()
        return x[mask] * y[mask], places, x.masked_select(mask), torch.arange(places.shape[0] + 1)


class Counted(torch.nn.Module):
    def forward(self, x, n):
        size = n.item()
        torch._check(size >= 0)
        torch._check(size < x.shape[0])
        return x[:size] * (size + 1), torch.zeros(size, 3), x * (x.sum().item() + 1), n.item()


class Listed(torch.nn.Module):
    def forward(self, x, n):
        factor, shift = n.tolist()
        return x * factor + shift


@pytest.mark.parametrize(
    ("model", "second", "others"),
    [
        (Chosen(), torch.ones(4, 3), [torch.ones(6, 3)]),
        (Counted(), torch.tensor(2), [torch.tensor(0), torch.tensor(4)]),
        (Listed(), torch.tensor([2, 3]), [torch.tensor([5, -1])]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_sizes_and_numbers_that_data_decide(model, second, others):
    rows = {0: Dim.DYNAMIC}
    shapes = (rows, rows if second.dim() == 2 else None)
    subject = Subject(model, (torch.randn(4, 3), second), shapes=shapes)
    assert not difference_of_programs(subject.by_torch(), subject.quickly())
    made = sardonyx.export(model, subject.args, dynamic_shapes=shapes, capture="quick")
    for other in (second, *others):
        x = torch.randn(other.shape[0] if other.dim() == 2 else 6, 3)
        wanted = pytree.tree_leaves(model(x, other))
        for got, want in zip(made(x, other), wanted, strict=True):
            assert difference(torch.as_tensor(got), torch.as_tensor(want)) is None


class ByVmap(torch.nn.Module):
    """A mask as attention of transformers makes it, of four mapped indices."""

    def forward(self, x, lengths):
        def allowed(row, head, query, key):
            return (key <= query) & (key < lengths[row]) & (head >= 0)

        mask = allowed
        for dims in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None)):
            mask = torch.vmap(mask, in_dims=dims)
        mask = torch.vmap(mask, in_dims=(0, None, None, None))
        rows, size = torch.arange(x.shape[0]), torch.arange(x.shape[1])
        with TransformGetItemToIndex():
            return x[:, None, None, :, 0] + mask(rows, torch.arange(2), size, size)


def test_masks_by_vmap():
    shapes = ({0: Dim.DYNAMIC, 1: Dim.DYNAMIC}, {0: Dim.DYNAMIC})
    args = (torch.randn(2, 5, 3), torch.tensor([3, 5]))
    made = sardonyx.export(ByVmap(), args, dynamic_shapes=shapes, capture="quick")
    x, lengths = torch.randn(4, 7, 3), torch.tensor([1, 7, 4, 2])
    assert difference(made(x, lengths)[0], ByVmap()(x, lengths)) is None


class Leaks(torch.nn.Module):
    """Its branches change a list outside of them, which eager PyTorch does for one of them."""

    def forward(self, x):
        seen = []

        def up(x):
            seen.append(x)
            return x + 1

        y = torch.cond(x.sum() > 0, up, lambda x: x - 1, (x,))
        return y * len(seen)


class Takes(torch.nn.Module):
    """Takes a tensor out of a branch."""

    def forward(self, x):
        kept = {}

        def up(x):
            kept["x"] = x * 2
            return x + 1

        y = torch.cond(x.sum() > 0, up, lambda x: x - 1, (x,))
        return y + kept["x"]


class Turns(torch.nn.Module):
    """A loop carries another size than it began with."""

    def forward(self, x):
        return torch._higher_order_ops.while_loop(
            lambda y: y.sum() < 9, lambda y: (torch.cat([y, y]),), (x,)
        )[0]


@pytest.mark.parametrize("model", [Leaks(), Takes(), Turns()])
def test_declines_bodies_that_do_more_than_compute(model):
    with pytest.raises(sardonyx.CaptureError, match="fake-tensor tracing declines"):
        sardonyx.export(model, (torch.randn(3, 4),), capture="quick")

"""What operators write in place: results of the tensor behind the write are of its new elements."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import difference

WRITES = {
    "copy": lambda x, y: x.copy_(y),
    "product": lambda x, y: x.mul_(y),
    "sum": lambda x, y: x.add_(y, alpha=-1),
    "quotient": lambda x, y: x.div_(y + 1),
    "mask": lambda x, y: x.masked_fill_(y == 0, 0.0),
    "rows": lambda x, y: x.index_copy_(0, torch.arange(2), y[1:3]),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_sizes_of_elements_are_asked_again_behind_a_write(write):
    class Counts(torch.nn.Module):
        def forward(self, x, y):
            x = x.clone()
            before = x.nonzero()
            write(x, y)
            after = x.nonzero()
            return before, after, before.shape[0] + 10 * after.shape[0]

    dims = ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC})
    example = torch.tensor([1.0, 0, 2, 1]), torch.tensor([0.0, 0, 1, 1])
    made = sardonyx.export(Counts(), example, dynamic_shapes=dims, capture="quick")
    for x, y in (example, ([0.0, 2, 3], [0.0, 3, 0]), ([1.0, 1, 0, 4, 5], [0.0, 1, 0, 4, 0])):
        given = torch.as_tensor(x), torch.as_tensor(y)
        *wanted, count = Counts()(*given)
        for one, other in zip(made(*given), [*wanted, torch.as_tensor(count)], strict=True):
            assert difference(one, other) is None

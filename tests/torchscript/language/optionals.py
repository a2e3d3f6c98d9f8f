"""Values that may be None, which is data-dependent, and lists that change in every iteration."""

# The types that TorchScript reads, and code as users write it.
# ruff: noqa: PERF402, PLW3301, RET505, RUF005, SIM108, SIM114, UP006, UP035, UP045
from typing import List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn

from .table import ROWS, SIGNS, case, grid, noise, number


@case(*SIGNS)
def best_row_so_far(x: Tensor) -> Tensor:
    best: Optional[Tensor] = None
    for i in range(x.size(0)):
        row = x[i]
        if best is None:
            best = row
        elif bool(row.sum() > best.sum()):
            best = row
    if best is None:
        best = torch.zeros(4)
    return best


@case(*SIGNS)
def none_or_scaled(x: Tensor) -> Tensor:
    y: Optional[Tensor] = None
    if bool(x.sum() > -2):
        y = x * 2
    if y is None:
        return x - 1
    return y + 1


@case(*ROWS)
def state_of_two_or_none(x: Tensor) -> Tensor:
    state: Optional[Tuple[Tensor, Tensor]] = None
    out = torch.zeros(4)
    for i in range(x.size(0)):
        if state is None:
            state = (x[i], x[i] * 2)
        else:
            state = (state[1] + x[i], state[0])
        out = out + state[0]
    return out


@case(*ROWS)
def kept_every_other_run(x: Tensor) -> Tensor:
    kept: Optional[Tensor] = None
    total = torch.zeros(4)
    for i in range(x.size(0)):
        if kept is not None:
            total = total + kept
            kept = None
        else:
            kept = x[i] * 2
    if kept is not None:
        total = total * 10 + kept
    return total


@case(*SIGNS)
def first_positive_row(x: Tensor) -> int:
    found: Optional[int] = None
    for i in range(x.size(0)):
        if found is None and bool(x[i].sum() > -1):
            found = i
    if found is None:
        return -1
    return found


@case(*SIGNS)
def scale_or_none(x: Tensor) -> Tensor:
    scale: Optional[float] = None
    if bool(x.sum() > -2):
        scale = 0.5
    y = x + 1
    if scale is not None:
        y = y * scale
    kept: Optional[Tensor] = y
    if bool(x.sum() < -20):
        kept = None
    if kept is None:
        return x
    else:
        return kept


@case(*ROWS)
def tail_of_size(x: Tensor) -> Tensor:
    tail: Optional[Tensor] = None
    if x.size(0) > 2:
        tail = torch.ones(x.size(0) - 2, 4)
    if tail is not None:
        x = torch.cat([x, tail])
    return x


class Cache(NamedTuple):
    keys: Tensor
    values: Tensor


@case((noise(4, 2, 8),), (noise(6, 1, 8),))
class CachedSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def step(self, x: Tensor, cache: Optional[Cache]) -> Tuple[Tensor, Cache]:
        keys, values = self.key(x).unsqueeze(1), self.value(x).unsqueeze(1)
        if cache is not None:
            keys = torch.cat([cache.keys, keys], 1)
            values = torch.cat([cache.values, values], 1)
        weights = (self.query(x).unsqueeze(1) @ keys.transpose(1, 2)).softmax(-1)
        return (weights @ values).squeeze(1), Cache(keys, values)

    def forward(self, x: Tensor) -> Tensor:
        cache: Optional[Cache] = None
        steps: List[Tensor] = []
        for t in range(x.size(0)):
            y, cache = self.step(x[t], cache)
            steps.append(y)
        return torch.stack(steps)


@case((noise(4, 2, 3),), (noise(7, 2, 3),))
class BackwardsSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(x.size(1), 4)
        steps: List[Tensor] = []
        for t in range(x.size(0)):
            state = self.cell(x[x.size(0) - 1 - t], state)
            steps = [state] + steps
        return torch.stack(steps)


@case(
    (torch.tensor([1, 2, 3, 4]), torch.tensor([2, 3, 5])),
    (torch.tensor([7]), torch.tensor([7, 7])),
)
def edit_distance(a: Tensor, b: Tensor) -> int:
    before: List[int] = []
    for j in range(b.size(0) + 1):
        before.append(j)
    for i in range(a.size(0)):
        row = [i + 1]
        for j in range(b.size(0)):
            cost = 0 if int(a[i]) == int(b[j]) else 1
            row.append(min(min(before[j + 1] + 1, row[j] + 1), before[j] + cost))
        before = row
    return before[-1]


@case((grid(3), 0), (grid(3), 1), (grid(3), 2))
def positions_from_either_end(x: Tensor, n: int) -> Tensor:
    rows: List[Tensor] = [x, x * 2, x * 3]
    for i in range(n):
        rows.append(x * i)
    rows[n - 1] = x * 50
    taken = rows.pop(n - 2)
    rows.insert(n - 1, x * 70)
    return torch.cat(rows) + taken.sum() + rows[n - 2].sum()


@case((grid(6), 3), (grid(9), 2))
def as_many_chunks(x: Tensor, n: int) -> Tensor:
    total = torch.zeros(4)
    for part in torch.chunk(x, n):
        total = total * 2 + part.mean(0)
    return total


@case((grid(6),), (grid(9),))
def split_at_sizes(x: Tensor) -> Tensor:
    thirds = torch.tensor_split(x, 3)
    cut = torch.tensor_split(x, [1, x.size(0) // 2])
    return thirds[0].sum(0) + thirds[2].mean(0) + cut[1].sum(0) + cut[2].sum(0)


@case((grid(4, 3), 3), (grid(2, 3), 1), (grid(2, 3), 0))
def power_by_squares(x: Tensor, n: int) -> Tensor:
    power, factor = torch.eye(x.size(1)), x.t() @ x
    while n > 0:
        if n & 1:
            power = power @ factor
        factor = factor @ factor * 0.5
        n >>= 1
    return power


@case((grid(3), number(3)), (grid(3), number(0)), (grid(3), number(2)))
def left_from_the_inner_loop(x: Tensor, n: Tensor) -> Tuple[Tensor, int]:
    count = 0
    for i in range(x.size(0)):
        for j in range(x.size(1)):
            if j == int(n):
                continue
            if i == j:
                break
            count += i * 4 + j
    return x + count, count


@case(*SIGNS)
def pairs_returned_from_loops(x: Tensor) -> Tuple[Tensor, int]:
    if x.size(0) == 1:
        return x, 0
    for i in range(x.size(0)):
        if bool(x[i, 0] < -8):
            return x[i : i + 1], i
        elif bool(x[i, 0] > 1.5):
            break
    total = x.sum(0, keepdim=True)
    while bool(total.sum() < 0):
        total = total + 1
        if bool(total[0, 0] > 5):
            return total, 100
    return total, -1


@case(*SIGNS)
def list_returned_from_the_loop(x: Tensor) -> List[Tensor]:
    rows: List[Tensor] = []
    for i in range(x.size(0)):
        if bool(x[i, 0] > 1.5):
            return rows
        rows.append(x[i])
    return rows


@case(*SIGNS)
def last_two_rows(x: Tensor) -> Tensor:
    rows: List[Tensor] = []
    for i in range(x.size(0)):
        rows.append(x[i])
        if len(rows) > 2:
            rows = rows[1:]
    return torch.stack(rows)

"""Used together: loops and branches that write, lists cut and repeated, containers asked."""

import torch
from torch import Tensor, nn

from .table import SIGNS, case, noise

SIZES = ((noise(3, 4),), (noise(6, 4),), (noise(2, 4),))


@case(*SIZES)
def written_unless_continued(x: Tensor) -> Tensor:
    made = torch.zeros_like(x)
    for i in range(x.size(0)):
        for j in range(x.size(1)):
            if j > i:
                continue
            made[i, j] = x[i, j] * (i + 1) - j
    return made


@case(*SIZES)
def columns_written_unless_continued(x: Tensor) -> Tensor:
    made = torch.zeros_like(x)
    for j in range(x.size(1)):
        if j > x.size(0):
            continue
        made[:, j] = x[:, j] - j
    return made


@case(*SIZES)
def deleted_from_a_list(x: Tensor) -> tuple[Tensor, int]:
    rows: list[Tensor] = []
    parts: list[Tensor] = []
    for i in range(x.size(0)):
        rows.append(x[i] * i)
        parts.append(x[:i])
    del rows[1]
    del parts[-1]
    return torch.stack(rows), len(parts) + parts[-1].size(0)


@case(*SIZES)
def lists_repeated(x: Tensor) -> tuple[Tensor, Tensor, int]:
    n = x.size(0)
    weights = [0.5, 2.0] * n
    rows = [x[0]] * (n - 2)
    rows.append(x[1])
    return torch.tensor(weights), torch.stack(rows), len([1] * n)


@case(*SIZES)
def counted_by_floats(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    n = x.size(0)
    end = float(x.abs().sum())
    return torch.arange(0.0, float(n), 0.4), torch.arange(n, 0.5, -0.5), torch.arange(end)


@case(*SIZES)
def letters_counted(x: Tensor) -> Tensor:
    parts = ["a", "bb", "c"]
    return x + ",".join(parts).count(",") + "aaa".count("aa")


@torch.jit.interface
class Turned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Halved(nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = by

    def forward(self, x: Tensor) -> Tensor:
        return x * self.by


@case((noise(3, 4), 2), (noise(5, 4), -1))
class Chosen(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Halved(0.5), Halved(0.25)])
        self.named = nn.ModuleDict({"one": Halved(3.0)})

    def forward(self, x: Tensor, times: int) -> Tensor:
        first: Turned = self.layers[0]
        last: Turned = self.layers[1]
        named: Turned = self.named["one"]
        return first.forward(x) * times + last.forward(x) + named.forward(x)


@case(*SIGNS)
def written_in_the_inner_branch(x: Tensor) -> Tensor:
    made = torch.zeros(4)
    if bool(x[0, 0] < 0):
        if bool(x[0, 1] < 0):
            made[1] += 1
        else:
            made.sub_(2)
    return made


@case(*SIGNS)
def counted_in_the_inner_branch(x: Tensor) -> Tensor:
    made = torch.zeros(x.size(0))
    for i in range(x.size(0)):
        if bool(x[i, 0] < 0):
            if bool(x[i, 1] < 0):
                made[i] += 1
            for j in range(i + 1, x.size(0)):
                made[j] = x[j].sum() + i
    return made


@case(*SIZES)
def suppressed_unless_seen(x: Tensor) -> Tensor:
    gone = torch.zeros(x.size(0), dtype=torch.bool)
    for i in range(x.size(0)):
        if bool(gone[i]):
            continue
        for j in range(i + 1, x.size(0)):
            if bool((x[i] - x[j]).abs().sum() < 3.0):
                gone[j] = True
    return torch.nonzero(~gone).flatten()


@case(*SIGNS)
def changed_or_made_anew(x: Tensor) -> tuple[Tensor, int]:
    numbers = [3]
    if bool(x.sum() > 0):
        numbers[0] = x.size(0)
    else:
        numbers = numbers[1:]
    return x, sum(numbers)


@case(*SIGNS)
def written_behind_the_branch(x: Tensor) -> Tensor:
    y = x * 1
    if bool(x.sum() > 0):
        y = y * 2
    for _ in range(x.size(0) - 1):
        y = y.tanh()
    y += 1
    y[0] = 7
    return y


@case((noise(3, 4), 2), (noise(5, 4), 0))
def clamped_in_the_loop(x: Tensor, n: int) -> tuple[Tensor, float]:
    scale = 0.75
    for _ in range(n):
        scale = min(max(scale, -8.0), 8.0)
    return x, scale

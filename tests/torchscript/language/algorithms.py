"""Whole algorithms, as people write them."""

# Annotated with typing's List and Dict, as people write scripts.
# ruff: noqa: UP006, UP035
from typing import List, Tuple

import torch
from torch import Tensor, nn

from .table import case, noise


@case((noise(3, 4), noise(5, 4)), (noise(2, 4), noise(6, 4)))
def time_warping(a: Tensor, b: Tensor) -> Tensor:
    cost = torch.full((a.size(0) + 1, b.size(0) + 1), 1e6)
    cost[0, 0] = 0.0
    for i in range(a.size(0)):
        for j in range(b.size(0)):
            least = torch.min(torch.min(cost[i, j + 1], cost[i + 1, j]), cost[i, j])
            cost[i + 1, j + 1] = (a[i] - b[j]).abs().sum() + least
    return cost[a.size(0), b.size(0)]


@case((noise(6, 4),), (noise(3, 4),), (noise(1, 4),))
def suppression(x: Tensor) -> Tensor:
    kept: List[int] = []
    for i in range(x.size(0)):
        stays = True
        for j in range(i):
            if bool((x[i] - x[j]).abs().sum() < 3.0):
                stays = False
        if stays:
            kept.append(i)
    return torch.tensor(kept)


@case((noise(5, 3),), (noise(2, 3),))
def clusters(x: Tensor) -> Tensor:
    centres = x[:2].clone()
    for _ in range(3):
        nearest = (x[:, None] - centres[None]).pow(2).sum(-1).argmin(1)
        for k in range(2):
            own = (nearest == k).to(x.dtype).unsqueeze(1)
            centres[k] = (x * own).sum(0) / own.sum().clamp(min=1.0)
    return centres


@case((torch.tensor([1, 0, 1, 1]),), (torch.tensor([0, 0]),), (torch.tensor([1]),))
def collapsed_labels(ids: Tensor) -> Tensor:
    out: List[int] = []
    previous = -1
    for i in range(ids.size(0)):
        label = int(ids[i])
        if label != previous and label > 0:
            out.append(label)
        previous = label
    return torch.tensor(out, dtype=torch.long)


@case(
    (torch.tensor([1, 2]), 4),
    (torch.tensor([5, 6, 7]), 6),
    (torch.tensor([0]), 1),
)
class GreedyDecoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.cell = nn.Embedding(11, 6), nn.LSTMCell(6, 6)
        self.out = nn.Linear(6, 11)

    def forward(self, token: Tensor, most: int) -> Tuple[Tensor, Tensor]:
        h = torch.zeros(token.size(0), 6)
        c = torch.zeros(token.size(0), 6)
        sequence = token.unsqueeze(1)
        steps = 0
        while steps < most:
            h, c = self.cell(self.embedding(token), (h, c))
            token = self.out(h).argmax(-1)
            sequence = torch.cat([sequence, token.unsqueeze(1)], 1)
            if bool((token == 3).all()):
                break
            steps += 1
        return sequence, h


@case((noise(2, 3),), (noise(4, 3),))
def moving_window(x: Tensor) -> Tensor:
    window: List[Tensor] = [torch.zeros(3), torch.zeros(3)]
    out: List[Tensor] = []
    for i in range(x.size(0)):
        window.append(x[i])
        window.pop(0)
        out.append(window[0] + window[1])
    return torch.stack(out)

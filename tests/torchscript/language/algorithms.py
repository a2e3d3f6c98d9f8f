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
    centers = x[:2].clone()
    for _ in range(3):
        nearest = (x[:, None] - centers[None]).pow(2).sum(-1).argmin(1)
        for k in range(2):
            own = (nearest == k).to(x.dtype).unsqueeze(1)
            centers[k] = (x * own).sum(0) / own.sum().clamp(min=1.0)
    return centers


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


@case((torch.tensor([1, 2, 0, 3, 0, 4]),), (torch.tensor([0, 0]),), (torch.tensor([5]),))
def stack_machine(ops: Tensor) -> int:
    stack: List[int] = []
    for i in range(ops.size(0)):
        op = int(ops[i])
        if op != 0:
            stack.append(op)
        elif len(stack) >= 2:
            a = stack.pop()
            b = stack.pop()
            stack.append(a * 10 + b)
    total = 0
    for value in stack:
        total = total * 100 + value
    return total


@case(
    (torch.tensor([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 0),
    (torch.tensor([[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]]), 2),
)
def reached_first(near: Tensor, start: int) -> Tuple[Tensor, List[int]]:
    steps = torch.full((near.size(0),), -1, dtype=torch.long)
    steps[start] = 0
    order: List[int] = []
    queue: List[int] = [start]
    while len(queue) > 0:
        at = queue.pop(0)
        order.append(at)
        for other in range(near.size(0)):
            if int(near[at, other]) == 1 and int(steps[other]) < 0:
                steps[other] = steps[at] + 1
                queue.append(other)
    return steps, order


@case((noise(6, 3),), (noise(2, 3),))
def likeliest_path(x: Tensor) -> Tuple[Tensor, Tensor]:
    moves = torch.tensor([[0.1, -0.2, 0.3], [0.0, 0.5, -0.4], [0.2, 0.2, 0.1]])
    score = x[0]
    back: List[Tensor] = []
    for t in range(1, x.size(0)):
        best, places = (score.unsqueeze(1) + moves).max(dim=0)
        score = best + x[t]
        back.append(places)
    last = score.argmax()
    path = [last]
    for t in range(len(back) - 1, -1, -1):
        last = back[t][last]
        path.append(last)
    path.reverse()
    return score, torch.stack(path)


@case((noise(6, 5), torch.tensor([1, 2])), (noise(4, 5), torch.tensor([3])))
def alignments(logits: Tensor, target: Tensor) -> Tensor:
    chances = logits.log_softmax(-1)
    states = 2 * target.size(0) + 1
    labels = torch.zeros(states, dtype=torch.long)
    labels[1::2] = target
    before = torch.full((states,), -1e30)
    before[0] = chances[0, 0]
    before[1] = chances[0, int(target[0])]
    for t in range(1, chances.size(0)):
        now = torch.full_like(before, -1e30)
        for j in range(states):
            total = before[j]
            if j > 0:
                total = torch.logaddexp(total, before[j - 1])
            if j > 1 and int(labels[j]) != 0 and int(labels[j]) != int(labels[j - 2]):
                total = torch.logaddexp(total, before[j - 2])
            now[j] = total + chances[t, int(labels[j])]
        before = now
    return torch.logaddexp(before[states - 1], before[states - 2])


@case((torch.tensor([1, 2]), 5), (torch.tensor([0, 3, 4]), 7), (torch.tensor([6]), 1))
class BeamSearch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.out, self.beams = nn.Embedding(8, 5), nn.Linear(5, 8), 2

    def forward(self, start: Tensor, steps: int) -> Tuple[Tensor, Tensor]:
        found = start.unsqueeze(1).repeat(1, self.beams).unsqueeze(-1)
        scores = torch.zeros(start.size(0), self.beams)
        scores[:, 1:] = -1e9
        ended = torch.zeros(start.size(0), self.beams, dtype=torch.bool)
        for _ in range(steps):
            chances = self.out(self.embedding(found[:, :, -1])).log_softmax(-1)
            chances = torch.where(ended.unsqueeze(-1), torch.full_like(chances, -1e9), chances)
            chances[:, :, 0] = torch.where(ended, torch.zeros_like(scores), chances[:, :, 0])
            scores, places = (scores.unsqueeze(-1) + chances).flatten(1).topk(self.beams, dim=1)
            source = torch.div(places, 8, rounding_mode="floor")
            token = places % 8
            rows = source.unsqueeze(-1).expand(-1, -1, found.size(2))
            found = torch.cat([found.gather(1, rows), token.unsqueeze(-1)], 2)
            ended = ended.gather(1, source) | (token == 0)
            if bool(ended.all()):
                break
        return found, scores


@case((noise(4, 5),), (noise(6, 5),))
class Transducer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.embedding = nn.GRUCell(6, 6), nn.Embedding(7, 6)
        self.joint, self.encoder = nn.Linear(6, 7), nn.Linear(5, 6)

    def forward(self, x: Tensor) -> Tensor:
        tokens: List[int] = []
        state = torch.zeros(1, 6)
        predicted = self.cell(self.embedding(torch.tensor([0])), state)
        for t in range(x.size(0)):
            encoded = self.encoder(x[t : t + 1])
            emitted, goes_on = 0, True
            while goes_on and emitted < 3:
                token = int(self.joint(torch.tanh(encoded + predicted)).argmax(-1)[0])
                if token == 0:
                    goes_on = False
                else:
                    tokens.append(token)
                    emitted += 1
                    state = predicted
                    predicted = self.cell(self.embedding(torch.tensor([token])), state)
        return torch.tensor(tokens)

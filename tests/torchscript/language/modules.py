"""Modules: attributes, containers, methods, recurrent layers, and what scripting leaves out."""

# The types that TorchScript reads, and code as users write it.
# ruff: noqa: RET505, UP006, UP035, UP045
from enum import Enum
from typing import Dict, Final, List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .table import ROWS, SIGNS, case, grid, noise

SEQUENCES = ((noise(5, 2, 3),), (noise(1, 4, 3),), (noise(8, 1, 3),))


@case(*ROWS)
class Attributes(nn.Module):
    scale: Final[int] = 3

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(noise(4, 4))
        self.register_buffer("offset", noise(4))
        self.factor = 0.5
        self.sizes = [1, 2, 3]
        self.flag = True
        self.name = "net"
        self.nothing: Optional[int] = None
        self.table = {"a": 2.0}

    def forward(self, x: Tensor) -> Tensor:
        y = x @ self.weight * self.factor + self.offset * self.scale
        if self.flag and self.name == "net" and self.nothing is None:
            y = y + self.sizes[1] + len(self.sizes)
        return y * self.table["a"]


@case(*ROWS)
class Methods(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def twice(self, x: Tensor, n: int = 2) -> Tensor:
        for _ in range(n):
            x = self.linear(x)
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.twice(x) + self.twice(x, n=3) + self.helper(x)

    @torch.jit.export
    def helper(self, x: Tensor) -> Tensor:
        return self.twice(x, 1) * 2

    @torch.jit.unused
    def left_out(self, x: Tensor) -> Tensor:
        return x.numpy()


@case(*ROWS)
class Ignored(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if torch.jit.is_scripting():
            return x * 2
        return self.python_only(x)

    @torch.jit.unused
    def python_only(self, x: Tensor) -> Tensor:
        return x


@case(*ROWS)
class Lists(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x)) + x
        for i, layer in enumerate(self.layers[1:]):
            x = layer(x) * i + x
        return self.layers[0](x) + len(self.layers)


@case(*ROWS)
class Dicts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Tanh()})

    def forward(self, x: Tensor) -> Tensor:
        for name, layer in self.layers.items():
            x = layer(x)
            if name == "a":
                x = x + 1
        return self.layers["a"](x)


@case(*ROWS)
class Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for layer in self.layers:
            y = layer(y)
        return y + self.layers(x)


@case(*ROWS)
class ParameterLists(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(noise(4, 4) + i) for i in range(2)])

    def forward(self, x: Tensor) -> Tensor:
        for weight in self.weights:
            x = x @ weight
        return x


@case(*ROWS)
class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.again = self.first

    def forward(self, x: Tensor) -> Tensor:
        return self.again(self.second(self.first(x)))


class _Inner(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n
        self.linear = nn.Linear(n, n)

    def forward(self, x: Tensor, flag: bool = False) -> Tuple[Tensor, Tensor]:
        y = self.linear(x)
        if flag:
            y = y * 2
        return y, x.sum()


@case(*ROWS)
class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = _Inner(4)
        self.b = _Inner(4)

    def forward(self, x: Tensor) -> Tensor:
        y, total = self.a(x)
        z, _ = self.b(y, flag=True)
        return z + total


@case(*SIGNS)
class ModulesInBranches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            return self.a(x)
        return self.b(x)


@case((grid(2), 3), (grid(3), 0))
class ModulesInLoops(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor, n: int) -> Tensor:
        for _ in range(n):
            x = torch.tanh(self.norm(self.layer(x)))
        return x


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class _Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


@case(*ROWS)
class Interfaces(nn.Module):
    layer: Layer

    def __init__(self) -> None:
        super().__init__()
        self.layer = _Doubled()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer.forward(x) + 1


@torch.jit.script
class Accumulator:
    def __init__(self, start: Tensor) -> None:
        self.total = start
        self.count = 0

    def add(self, x: Tensor) -> None:
        self.total = self.total + x
        self.count += 1


@case(*ROWS)
def class_made(x: Tensor) -> Tensor:
    sums = Accumulator(x)
    sums.add(x * 2)
    sums.add(x + 1)
    return sums.total * sums.count


@case((grid(2), 3), (grid(3), 0))
def class_in_loop(x: Tensor, n: int) -> Tensor:
    sums = Accumulator(x)
    for i in range(n):
        sums.add(x * i)
    return sums.total * sums.count


@case(*SIGNS)
def class_in_branch(x: Tensor) -> Tensor:
    sums = Accumulator(x)
    if bool(x.sum() > 0):
        sums.add(x * 2)
    return sums.total * sums.count


@torch.jit.script
def scripted_helper(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x + 1
    return x


@case((grid(2), 3), (grid(3), 0))
def calls_scripted(x: Tensor, n: int) -> Tensor:
    return scripted_helper(x, n) * scripted_helper(x, 2)


@case(*ROWS)
class Traced(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.jit.trace(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), noise(2, 4))

    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) > 2:
            x = x * 2
        return self.inner(x)


@case(*SEQUENCES)
class Rnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.RNN(3, 4)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return self.rnn(x)


@case(*SEQUENCES)
class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(3, 4, num_layers=2, bidirectional=True)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return self.gru(x)


@case(*SEQUENCES)
class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        return self.lstm(x)


@case(
    (noise(5, 2, 3), (noise(1, 2, 4), noise(1, 2, 4))),
    (noise(1, 4, 3), (noise(1, 4, 4), noise(1, 4, 4))),
)
class LstmWithState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4)

    def forward(self, x: Tensor, state: Tuple[Tensor, Tensor]) -> Tensor:
        y, (h, c) = self.lstm(x, state)
        return y + h - c


@case(*SEQUENCES)
class LstmCells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.size(1), 4)
        c = torch.zeros(x.size(1), 4)
        outputs: List[Tensor] = []
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
            outputs.append(h)
        return torch.stack(outputs)


@case(*SEQUENCES)
class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.start = nn.Linear(3, 4)
        self.last = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        state = self.start(x.mean(0))
        word = torch.zeros_like(state)
        words: List[Tensor] = []
        for _ in range(x.size(0)):
            state = self.cell(word, state)
            word = torch.softmax(self.last(state), -1)
            words.append(word)
        return torch.stack(words, dim=1)


@case((noise(2, 5, 8), None), (noise(3, 4, 8), None))
class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.heads: Final[int] = 2

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        scores = q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5
        if mask is not None:
            scores = scores + mask
        return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(b, n, c)


@case((noise(2, 3, 8, 8),), (noise(1, 3, 16, 8),))
class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2)
        self.last = nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.pool(F.relu(self.norm(self.conv(x))))
        y = F.adaptive_avg_pool2d(y, (1, 1))
        return self.last(torch.flatten(y, 1))


@case(*ROWS)
class Dropout(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.drop(x)
        if self.training:
            y = y * 100
        return y


@case(*ROWS)
class DictResult(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.ModuleDict({"one": nn.Linear(4, 1), "two": nn.Linear(4, 2)})

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        found: Dict[str, Tensor] = {}
        for name, head in self.heads.items():
            found[name] = head(x)
        return found


@case((torch.tensor([[1, 2], [0, 4]]),), (torch.tensor([[1, 2, 3]]),))
class Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(5, 8)
        self.places = nn.Embedding(16, 8)

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.size(1), device=ids.device).unsqueeze(0)
        return self.words(ids) + self.places(places)


@case((noise(2, 5, 8),), (noise(3, 4, 8),))
class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.attention(x, x, x, need_weights=False)
        return self.norm(x + y)


@case(*SIGNS)
class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 2)
        self.experts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x: Tensor) -> Tensor:
        best = int(self.gate(x).mean(0).argmax())
        y = x
        for i, expert in enumerate(self.experts):
            if best == i:
                y = expert(x)
        return y


@case(*ROWS)
class Buffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", noise(8, 4))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[: x.size(0)]


@case((noise(2, 3, 4),), (noise(5, 1, 4),))
class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = x[:, 0]
        found = y.unsqueeze(1)
        for _ in range(x.size(1)):
            y = torch.tanh(self.step(y))
            found = torch.cat([found, y.unsqueeze(1)], dim=1)
        return found


class Activation(Enum):
    RELU = 0
    TANH = 1
    SIGMOID = 2


@case(*ROWS)
class ChosenActivation(nn.Module):
    """The member that the module holds is one of those that its code names."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = Activation.TANH

    def apply_one(self, x: Tensor, kind: Activation) -> Tensor:
        if kind == Activation.RELU:
            return torch.relu(x)
        elif kind == Activation.TANH:
            return torch.tanh(x)
        return torch.sigmoid(x)

    def forward(self, x: Tensor) -> Tensor:
        print("rows", x.size(0))
        y = self.apply_one(x, self.kind) + self.kind.value
        if self.kind.name == "TANH":
            y = y * 2
        for kind in [Activation.RELU, Activation.SIGMOID]:
            y = self.apply_one(y, kind) + kind.value
        return y

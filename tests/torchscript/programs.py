"""Scripted programs: what each is asked about the language, and inputs of other sizes."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Point(NamedTuple):
    left: Tensor
    right: Tensor


class Program(NamedTuple):
    module: nn.Module
    # As the command line says it.
    inputs: list[str]
    # What the model is run with.
    runs: list[tuple[Tensor | int, ...]]


class Straight(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.layers(x), dim=-1)


class StaticLoop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x: Tensor) -> Tensor:
        parts = []
        for i, layer in enumerate(self.layers):
            x = layer(x) * i + x
            parts.append(x)
        return torch.stack(parts)


class EarlyReturn(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            return x * 2
        y = x - 1
        if bool(y.mean() < -5):
            return y * 3
        return y


class BranchOnData(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int, float]:
        n, scale = 1, 0.5
        if bool(x.max() > 1):
            y = x + 1
            n = 2
        else:
            y = x * 2
            scale = 1.5
        return y, n + 1, scale * 2


class BranchOnSize(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) > 3:
            return x[:3]
        return torch.cat([x, x])


class Named(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        point = Point(x + 1, x * 2)
        found = {"a": point.left, "b": point.right}
        found["c"] = found["a"] * found["b"]
        total = torch.zeros_like(x)
        for name in ["a", "c"]:
            total = total + found[name]
        return total


class Maybe(nn.Module):
    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        if y is None:
            y = torch.ones_like(x)
        return x + y


class SizesAsNumbers(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n = x.size(0) * x.size(1)
        return x.reshape(n // 2, 2) / float(n) + x.shape[0]


class Picked(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[x > 0] + x[..., 1:][:, None].sum() + x[-1, 0]


class Written(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        y[0] = 5
        y[:, 1] += 1
        return y


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x: Tensor) -> Tensor:
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = torch.softmax(q @ k.transpose(-2, -1) * (c // 2) ** -0.5, dim=-1)
        return (weights @ v).transpose(1, 2).reshape(b, n, c)


class CountedByData(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tensor:
        for i in range(n):
            x = x * 1.5 + i
        return x


class CountedByTensor(nn.Module):
    def forward(self, x: Tensor, times: Tensor) -> Tensor:
        total = torch.zeros_like(x)
        for i in range(int(times)):
            total = total + x * i
        return total


class CountedBySize(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(x.size(1), 3)
        outputs: list[Tensor] = []
        for t in range(x.size(0)):
            state = self.cell(x[t], state)
            outputs.append(state)
        return torch.stack(outputs, 1)


class While(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        steps = 0
        while bool(x.sum() < 100):
            x = x * 2 + 1
            steps += 1
        return x, steps


class BreakAndContinue(nn.Module):
    def forward(self, x: Tensor, limit: float) -> Tensor:
        total = torch.zeros(4)
        for i in range(x.size(0)):
            row = x[i]
            if bool(row.sum() < 0):
                continue
            if float(row.max()) > limit:
                break
            total = total + row
        return total


class ReturnInLoop(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        for i in range(x.size(0)):
            if bool(x[i].sum() > 0):
                return x[i] * 10
        return x.sum(0)


class NestedLoops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros(1)
        for i in range(x.size(0)):
            for j in range(i):
                total = total + x[i, 0] * x[j, 1]
        return total


class Growing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x
        for _ in range(x.size(0)):
            y = torch.cat([y, x[:1]])
        return y


class StateTuple(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        state = (torch.zeros(x.size(1), 3), torch.zeros(x.size(1), 3))
        outputs: list[Tensor] = []
        for t in range(x.size(0)):
            state = self.cell(x[t], state)
            outputs.append(state[0])
        return torch.stack(outputs), state[1]


class BranchInLoop(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x[0]
        for i in range(x.size(0)):
            if i % 2 == 0:
                y = y + x[i]
            elif bool(x[i, 0] > 0):
                y = y - x[i] * 2
        return y


class Joined(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        parts = [x[0] * 0]
        for i in range(x.size(0)):
            parts.append(x[i] * i)
        return torch.cat(parts) + len(parts)


class Unlike(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):  # noqa: SIM108 (the branches are what is asked)
            y = x
        else:
            y = x[0]
        return y


class WrittenAfterBranch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        z = y
        if bool(x.sum() > 0):
            z = x * 3
        z += 1
        return y + z


def _grid(rows: int, columns: int, low: float = -2.0) -> Tensor:
    return torch.linspace(low, 2.0, rows * columns).reshape(rows, columns)


PROGRAMS: dict[str, Program] = {
    "straight": Program(Straight(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(5, 4),)]),
    "static_loop": Program(StaticLoop(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(5, 4),)]),
    "early_return": Program(
        EarlyReturn(),
        ["x:float32[n,4]"],
        [(_grid(2, 4, -1),), (_grid(3, 4, -3),), (_grid(1, 4, -90),)],
    ),
    "branch_on_data": Program(
        BranchOnData(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(3, 4) / 4,)]
    ),
    "branch_on_size": Program(
        BranchOnSize(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(5, 4),), (_grid(3, 4),)]
    ),
    "named": Program(Named(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(5, 4),)]),
    "maybe_none": Program(Maybe(), ["x:float32[n,4]"], [(_grid(2, 4),)]),
    "maybe": Program(
        Maybe(), ["x:float32[n,4]", "y:float32[4]"], [(_grid(2, 4), torch.arange(4.0))]
    ),
    "sizes": Program(SizesAsNumbers(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(5, 4),)]),
    "picked": Program(Picked(), ["x:float32[n,m]"], [(_grid(2, 4),), (_grid(5, 3),)]),
    "written": Program(Written(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(5, 4),)]),
    "attention": Program(
        Attention(), ["x:float32[b,n,8]"], [(torch.randn(1, 3, 8),), (torch.randn(2, 7, 8),)]
    ),
    "counted": Program(
        CountedByData(), ["x:float32[n,4]", "n:int"], [(_grid(2, 4), 3), (_grid(1, 4), 0)]
    ),
    "counted_by_tensor": Program(
        CountedByTensor(),
        ["x:float32[n,4]", "times:int64[]"],
        [(_grid(2, 4), torch.tensor(3)), (_grid(2, 4), torch.tensor(0))],
    ),
    "counted_by_size": Program(
        CountedBySize(), ["x:float32[t,b,4]"], [(torch.randn(3, 2, 4),), (torch.randn(1, 5, 4),)]
    ),
    "while": Program(While(), ["x:float32[n,4]"], [(_grid(2, 4),), (_grid(1, 4) + 90,)]),
    "break": Program(
        BreakAndContinue(),
        ["x:float32[n,4]", "limit:float"],
        [(_grid(3, 4), 5.0), (_grid(5, 4), 1.0), (_grid(5, 4), -5.0)],
    ),
    "return_in_loop": Program(
        ReturnInLoop(), ["x:float32[n,4]"], [(_grid(3, 4),), (_grid(2, 4) - 9,), (_grid(1, 4) + 3,)]
    ),
    "nested_loops": Program(NestedLoops(), ["x:float32[n,4]"], [(_grid(4, 4),), (_grid(1, 4),)]),
    "growing": Program(Growing(), ["x:float32[n,4]"], [(_grid(4, 4),), (_grid(1, 4),)]),
    "state_tuple": Program(
        StateTuple(), ["x:float32[t,b,4]"], [(torch.randn(3, 2, 4),), (torch.randn(1, 5, 4),)]
    ),
    "branch_in_loop": Program(
        BranchInLoop(), ["x:float32[n,4]"], [(_grid(4, 4),), (_grid(1, 4),), (-_grid(5, 4),)]
    ),
    "joined": Program(Joined(), ["x:float32[n,4]"], [(_grid(4, 4),), (_grid(1, 4),)]),
}


class ComparedText(nn.Module):
    """Asks how a number of the data is written."""

    def forward(self, x: Tensor) -> Tensor:
        count = int(x.sum().item())
        if str(count) == "3":
            return x + 1
        return x


# What no model can say, with what the refusal says; always with the user's line.
REFUSED: dict[str, tuple[nn.Module, str]] = {
    "unlike": (Unlike(), "SX1207.*a data-dependent rank"),
    "compared_text": (ComparedText(), "SX1211.*a data-dependent string is compared"),
    "written_after_branch": (WrittenAfterBranch(), "SX1708.*writes to what may be"),
}

"""Small programs that hold one thing each that a front end must carry."""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.export import Dim, ExportedProgram


@dataclass
class Program:
    model: nn.Module
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None
    dynamic_shapes: Any = None
    strict: bool = False
    decomposed: bool = False  # run_decompositions({}): mutation moves to the signature

    def captured(self) -> ExportedProgram:
        with torch.no_grad():
            program = torch.export.export(
                self.model,
                self.args,
                self.kwargs,
                dynamic_shapes=self.dynamic_shapes,
                strict=self.strict,
            )
        return program.run_decompositions({}) if self.decomposed else program


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(build: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[build.__name__] = build
    return build


def of(function: Callable[..., Any], *args: Any, **options: Any) -> Program:
    """A module whose forward() is `function`."""

    class Model(nn.Module):
        forward = staticmethod(function)

    return Program(Model(), args, **options)


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU()) for _ in range(3)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


@program
def layers() -> Program:
    return Program(Layers(), (torch.randn(4, 8),), dynamic_shapes=({0: Dim("batch")},))


@program
def layers_captured_by_dynamo() -> Program:
    return Program(Layers(), (torch.randn(4, 8),), dynamic_shapes=({0: Dim("b")},), strict=True)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("whole", torch.arange(12.0).reshape(3, 4))
        self.register_buffer("part", self.whole[1:, ::2])
        # A file keeps non-persistent buffers apart from the others, shared or not.
        self.register_buffer("transposed", self.whole.t().clone(), persistent=False)
        self.scale = torch.tensor(2.0)
        self.unused = nn.Linear(2, 2)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        lifted = torch.tensor([[1, 2], [3, 4]])
        hidden = self.head(self.embedding(ids)) * self.scale
        return hidden, self.part + lifted, self.transposed @ self.whole


@program
def tied_and_shared_weights() -> Program:
    return Program(Tied(), (torch.tensor([[1, 2, 3]]),))


@program
def empty_weights() -> Program:
    class Empty(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.nothing = nn.Parameter(torch.empty(0, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, self.nothing])

    return Program(Empty(), (torch.randn(2, 3),))


@program
def tuples_and_unused_outputs() -> Program:
    def function(x: torch.Tensor) -> Any:
        values, _ = x.max(dim=1)
        first, _, third = x.split([1, 2, 1], dim=1)
        _, indices = torch.topk(x, 2)
        return values, first + third, indices, x.unbind(0)[1]

    return of(function, torch.randn(3, 4))


@program
def outputs_of_every_kind() -> Program:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return {"sum": x + y, "none": None, "x": x, "size": x.shape[0] * 2, "three": 3, "s": "a"}

    batch = Dim("batch")
    return of(
        function, torch.randn(3, 4), torch.randn(3, 4), dynamic_shapes=({0: batch}, {0: batch})
    )


@program
def constants_as_inputs() -> Program:
    def function(x: torch.Tensor, n: int, text: str, nothing: Any, flag: bool, f: float) -> Any:  # noqa: PLR0917
        return x * n * f if flag and text == "a" and nothing is None else x

    return of(function, torch.randn(3), 2, "a", None, True, 0.5)


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="tests.live.Pair")


@program
def nested_inputs_by_keyword() -> Program:
    def function(pair: Pair, *, extra: dict[str, Any], more: list[torch.Tensor]) -> Any:
        ordered = collections.OrderedDict(b=pair.left + extra["k"], a=pair.right)
        return ordered, [more[0] - more[1]]

    tensors = [torch.randn(2) for _ in range(5)]
    keywords = {"more": tensors[2:4], "extra": {"k": tensors[4]}}
    return of(function, Pair(*tensors[:2]), kwargs=keywords)


@program
def symbolic_arithmetic() -> Program:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        n, m = x.shape[0], y.shape[0]
        total = torch.sym_max(n, m) + (n * m) // 2 - n % 3
        root = torch.sym_float(n) / 2.5
        return x.new_zeros(n + m, total), x * root, x.new_full((2,), n), torch.arange(n * 2)

    return of(
        function, torch.randn(6, 2), torch.randn(5), dynamic_shapes=({0: Dim("n")}, {0: Dim("m")})
    )


@program
def symbolic_inputs() -> Program:
    def function(x: torch.Tensor, n: int) -> Any:
        return x.repeat(n, 1), n + 1

    return of(function, torch.randn(2, 3), 4, dynamic_shapes=(None, Dim.DYNAMIC))


@program
def sizes_from_data() -> Program:
    def function(x: torch.Tensor, k: torch.Tensor) -> Any:
        count = k.item()
        torch._check(count >= 2)
        torch._check(count < 100)
        return x.nonzero(), torch.zeros(count, 3), x[x > 0]

    return of(function, torch.randn(5), torch.tensor(4))


@program
def strides_that_matter() -> Program:
    def function(x: torch.Tensor) -> Any:
        return x.t(), x.permute(1, 0)[1:], x.expand(2, 3, 4), x[:, 1], x.unfold(1, 2, 1)

    return of(function, torch.randn(3, 4), dynamic_shapes=None)


@program
def dtypes_and_formats() -> Program:
    def function(x: torch.Tensor) -> Any:
        y = x.to(torch.float16).to(memory_format=torch.channels_last)
        z = torch.full((2, 2), float("inf"), dtype=torch.float64) + float("nan")
        w = torch.full((1,), 2**62, dtype=torch.int64)
        return y, z, w, torch.zeros_like(x, dtype=torch.bool, device="cpu"), x * (1 + 2j)

    return of(function, torch.randn(1, 2, 3, 3))


@program
def indices_with_none() -> Program:
    def function(x: torch.Tensor, i: torch.Tensor) -> Any:
        return x[:, i], x[None, ..., i], torch.einsum("ij,kj->ik", x, x)

    return of(function, torch.randn(3, 4), torch.tensor([0, 2]))


class Mutating(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))
        self.register_buffer("cache", torch.zeros(4, 3))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        self.cache[1:3] = x
        y.mul_(2)
        return self.cache + y * self.count[0]


@program
def mutation_as_written() -> Program:
    return Program(Mutating(), (torch.randn(2, 3), torch.randn(4, 3)))


@program
def mutation_in_the_signature() -> Program:
    return Program(Mutating(), (torch.randn(2, 3), torch.randn(4, 3)), decomposed=True)


@program
def an_operator_run_for_its_effect() -> Program:
    def function(x: torch.Tensor) -> torch.Tensor:
        inverse, info = torch.linalg.inv_ex(x)
        torch.ops.aten._linalg_check_errors(info, "inverse", is_matrix=True)
        return inverse

    return of(function, torch.randn(3, 3), decomposed=True)


@program
def conditional() -> Program:
    class Conditional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> Any:
            def inner(v: torch.Tensor) -> torch.Tensor:
                return torch.cond(v.sum() > 3, lambda u: u - 1, lambda u: u * 2, (v,))

            def outer(v: torch.Tensor) -> torch.Tensor:
                return inner(self.linear(v))

            return torch.cond(x.shape[0] > 4, outer, lambda v: v.sin(), (x,)) + torch.cond(
                x.sum() > 0, lambda v: v.cos(), lambda v: -v, (x,)
            )

    return Program(Conditional(), (torch.randn(6, 4),), dynamic_shapes=({0: Dim("batch")},))


@program
def loops() -> Program:
    from torch._higher_order_ops.map import map as mapped
    from torch._higher_order_ops.scan import scan
    from torch._higher_order_ops.while_loop import while_loop

    def function(x: torch.Tensor, xs: torch.Tensor) -> Any:
        i, y = while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 2 + x), (torch.tensor(0), x))
        carry, ys = scan(lambda c, v: (c + v, c * v), x, xs, dim=0)
        return i, y, carry, ys, mapped(lambda v, w: v * w, xs, x)

    return of(function, torch.randn(3), torch.randn(5, 3))


@program
def gradient_and_autocast_regions() -> Program:
    def function(x: torch.Tensor) -> Any:
        with torch.no_grad():
            y = x * 2
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = x @ x
        return y + 1, z

    return of(function, torch.randn(4, 4))


@program
def composites() -> Program:
    class Composite(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
            self.conv = nn.Conv1d(4, 4, 3, padding="same")
            self.norm = nn.BatchNorm1d(4)
            self.lstm = nn.LSTM(8, 5, bidirectional=True, batch_first=True)

        def forward(self, x: torch.Tensor) -> Any:
            y, _ = self.attention(x, x, x, need_weights=False)
            return self.norm(self.conv(y)), self.lstm(y)

    return Program(Composite().eval(), (torch.randn(2, 4, 8),))


@program
def the_same_element_twice() -> Program:
    def function(x: torch.Tensor) -> Any:
        parts = x.chunk(2)
        return parts[0] + 1, parts[0] * 2, parts[1]

    return of(function, torch.randn(4))

"""Random programs that decide and compute by sizes: branches, loops, slices, numbers of sizes.

They are drawn statement by statement: one that eager PyTorch rejects at most sizes is drawn again.
"""

from __future__ import annotations

import linecache
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch

# The example's sizes, then those that a program is compared at.
EXAMPLE = {"n": 5, "m": 3}
SIZES = (
    EXAMPLE,
    *(
        {"n": n, "m": m}
        for n, m in (
            (0, 7), (7, 0), (1, 2), (2, 1), (0, 0), (1, 1), (2, 2), (2, 7), (7, 2), (33, 2),
            (7, 33), (33, 33),
        )
    ),
)  # fmt: skip
_SHAPES: tuple[tuple[str | int, ...], ...] = (
    ("n",), ("n", 2), ("n", "m"), (2, "n"), ("m", "n"), (1, "n", 3),
)  # fmt: skip
_MAX_ELEMENTS = 40_000
_MAX_VALUE = 1e6


@dataclass(frozen=True)
class Statement:
    """A line; with a block under it, and one under `else:`, where it has these."""

    text: str
    body: tuple[Statement, ...] = ()
    otherwise: tuple[Statement, ...] = ()

    def lines(self, indent: str) -> Iterator[str]:
        """Its source."""
        yield indent + self.text
        for each in self.body:
            yield from each.lines(indent + "    ")
        if self.otherwise:
            yield indent + "else:"
            for each in self.otherwise:
                yield from each.lines(indent + "    ")


@dataclass(frozen=True)
class SizeProgram:
    """A program of a seed. `least` is what its dimensions are declared to begin at; None for
    Dim.AUTO."""

    shapes: tuple[tuple[str | int, ...], ...]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    least: int | None = 0
    seed: int = 0

    def text(self) -> str:
        """Its source."""
        names = "abc"[: len(self.shapes)]
        lines = [f"def forward(self, {', '.join(names)}):"]
        for each in self.statements:
            lines += each.lines("    ")
        lines.append(f"    return ({', '.join(self.results)},)")
        return "\n".join(lines) + "\n"

    def module(self) -> torch.nn.Module:
        """A module whose forward() it is."""
        text = self.text()
        # What is known of code is kept by its file: each text has one of its own.
        name = f"<hunt sizes {self.seed}, {zlib.crc32(text.encode()):x}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space: dict[str, Any] = {"torch": torch}
        exec("import math\n", space)
        exec(compile(text, name, "exec"), space)
        made: torch.nn.Module = type(
            "Hunted", (torch.nn.Module,), {"forward": space["forward"], "__module__": __name__}
        )()
        return made

    def values(self, sizes: dict[str, int]) -> tuple[torch.Tensor, ...]:
        """Small numbers of the inputs' shapes."""
        drawn = torch.Generator().manual_seed(self.seed)
        return tuple(
            torch.randint(-8, 9, [sizes.get(str(d), d) for d in dims], generator=drawn) / 4
            for dims in self.shapes
        )

    def dynamic_shapes(self) -> tuple[dict[int, Any], ...]:
        """What export() is given of the inputs."""
        dim: Any = torch.export.Dim
        dims = {
            name: dim.AUTO if self.least is None else dim(name, min=self.least, max=99)
            for name in "nm"
        }
        return tuple(
            {axis: dims[d] for axis, d in enumerate(shape) if isinstance(d, str)}
            for shape in self.shapes
        )

    def smaller(self) -> Iterator[SizeProgram]:
        """Programs with a statement, a block or a result less."""
        for statements in _smaller(self.statements):
            yield replace(self, statements=statements)
        for i in range(len(self.results) if len(self.results) > 1 else 0):
            yield replace(self, results=self.results[:i] + self.results[i + 1 :])


def _smaller(block: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    for i in reversed(range(len(block))):
        before, each, after = block[:i], block[i], block[i + 1 :]
        yield before + after
        if each.otherwise:
            yield (*before, replace(each, otherwise=()), *after)
        if each.body:
            yield before + each.body + after
            for body in _smaller(each.body):
                if body:
                    yield (*before, replace(each, body=body), *after)
        for otherwise in _smaller(each.otherwise):
            yield (*before, replace(each, otherwise=otherwise), *after)


@dataclass
class _Drawing:
    """Names of what a program has so far."""

    rng: random.Random
    tensors: list[str]
    numbers: list[str] = field(default_factory=list)
    reals: list[str] = field(default_factory=list)
    count: int = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def tensor(self) -> str:
        return self.tensors[int(len(self.tensors) * self.rng.random() ** 0.6)]

    def pick(self, *texts: str) -> str:
        return self.rng.choice(texts)


def _size(d: _Drawing) -> str:
    """A size of a tensor."""
    x = d.tensor()
    kinds = (f"{x}.shape[0]", f"{x}.shape[-1]", f"{x}.size(0)", f"len({x})", f"{x}.numel()")
    return d.rng.choices(kinds, (5, 4, 2, 1, 1))[0]


def _whole(d: _Drawing, depth: int = 2) -> str:
    """An integer."""
    if depth == 0 or d.rng.random() < 0.25:
        known = d.rng.choice(d.numbers) if d.numbers and d.rng.random() < 0.6 else _size(d)
        return str(d.rng.randint(-2, 9)) if d.rng.random() < 0.15 else known
    a, k = _whole(d, depth - 1), d.rng.randint(2, 5)
    b = _whole(d, depth - 1)
    return d.pick(
        f"({a} + {b})", f"({a} - {b})", f"({a} - {k})", f"({a} + {k})", f"{a} * {k}",
        f"({a} // {k})", f"({a} % {k})", f"min({a}, {k})", f"max({a}, {k})", f"min({a}, {b})",
        f"max({a}, {b})", f"abs({a} - {b})", f"-(-({a}) // {k})", f"int({_real(d, depth - 1)})",
        f"math.ceil({_real(d, depth - 1)})", f"math.floor({_real(d, depth - 1)})",
        f"round({_real(d, depth - 1)})", f"({a} + {k - 1}) // {k} * {k}", f"({a} // max({b}, 1))",
        f"({a} % max({b}, 1))", f"({a}) ** 2", f"divmod({a}, {k})[1]", f"int({_truth(d, 0)})",
    )  # fmt: skip


def _real(d: _Drawing, depth: int = 1) -> str:
    """A real number."""
    if d.reals and d.rng.random() < 0.3:
        return d.rng.choice(d.reals)
    a = _whole(d, max(depth - 1, 0))
    return d.pick(
        f"{a} * 0.25", f"{a} * 1.5", f"({a}) / 3", f"({a}) / 2", f"math.sqrt(abs({a}))",
        f"math.log(abs({a}) + 1)", f"math.log2(abs({a}) + 1)", f"float({a})",
        f"(abs({a}) + 1) ** 0.5", f"1 / (abs({a}) + 1)", f"({a} - 0.5)",
        f"math.exp(-abs({a}) / 8)", f"max({a}, 1.5)", f"min({a} / 2, 3.0)",
    )  # fmt: skip


def _truth(d: _Drawing, depth: int = 1) -> str:
    """A condition on sizes."""
    a, b, k = _whole(d, depth), _whole(d, depth), d.rng.randint(0, 8)
    op = d.pick("<", ">", "==", "!=", "<=", ">=")
    plain = d.rng.choices(
        (f"{a} {op} {k}", f"{a} {op} {b}", f"{a} % 2 == 0", f"{a} in (1, 2, 7)", f"not {a}",
         f"bool({a})", f"{_real(d, depth)} {op} 1.5", f"2 < {a} < 8"),
        (6, 3, 2, 1, 1, 1, 1, 1),
    )[0]  # fmt: skip
    if depth and d.rng.random() < 0.2:
        return f"{plain} {d.pick('and', 'or')} {_truth(d, 0)}"
    return plain


def _bound(d: _Drawing) -> str:
    """One end of a slice."""
    return d.pick("", "", "1", "2", "-1", "-2", "9", "-9", _whole(d, 1), f"-({_whole(d, 1)})")


def _slice(d: _Drawing) -> str:
    step = d.pick("", "", "", "", ":2", f":max({_whole(d, 0)}, 1)")
    return f"{_bound(d)}:{_bound(d)}{step}"


def _value(d: _Drawing) -> str:
    """A tensor."""
    x, y, k = d.tensor(), d.tensor(), d.rng.randint(1, 4)
    count = f"max({_whole(d, 1)}, 0)"
    return d.rng.choice((
        *(f"{x}[{_slice(d)}]",) * 3, *(f"{x}[..., {_slice(d)}]",) * 2, f"{x} * {_real(d)}",
        f"{x} + {_whole(d)}", f"{x} / ({_real(d)} + 20)", f"{x} + {y}", f"torch.cat([{x}, {y}])",
        f"torch.arange({count})", f"torch.arange({_whole(d, 1)}, {_whole(d, 1)} + 9, 2)",
        f"torch.zeros({count}, 2)", f"torch.ones(2, {count}).cumsum(1)",
        f"torch.full((2,), {_real(d)})", f"torch.full(({count},), float({_whole(d, 1)}))",
        f"torch.nn.functional.pad({x}, (0, {count}))",
        f"torch.nn.functional.pad({x}, ({k}, max({_whole(d, 1)}, -1)))",
        f"{x}.reshape(-1)", f"{x}.flatten()", f"{x}.unsqueeze(0)", f"{x}.transpose(0, -1)",
        f"{x}.sum(0)", f"{x}.sum(-1, keepdim=True)", f"{x}.mean()", f"{x}.cumsum(0)",
        f"{x}.repeat({k}, *[1] * ({x}.dim() - 1))", f"{x}.roll({_whole(d, 1)}, 0)",
        f"{x}.narrow(0, 0, min({x}.shape[0], {k}))", f"{x}.chunk(2)[0]", f"{x}.flip(0)",
        f"{x}.split(max({_whole(d, 1)}, 1))[0]", f"{x}.new_zeros({x}.shape[0])",
        f"torch.linspace(0, 1, {count})", f"torch.eye(min({count}, 9))",
        f"{x}.expand({k}, *{x}.shape)", f"{x}.view({x}.shape[0], -1)",
        f"({x} if {_truth(d)} else {x} * 2)", f"{x}.tril({_whole(d, 1)})",
        f"torch.where(torch.arange({x}.shape[-1]) < {_whole(d, 1)}, {x}, 0.5)",
        f"{x}.index_select(0, torch.arange(min({x}.shape[0], {k})))",
        f"{x}[[i for i in range(min({x}.shape[0], {k}))]]",
        f"torch.stack([{x}, {x} + {_whole(d, 0)}])", f"{x}.masked_fill({x} > {_whole(d, 0)}, 1.0)",
    ))  # fmt: skip


def _simple(d: _Drawing) -> Statement:
    """An assignment of something new."""
    kind = d.rng.choices("nrt", (4, 2, 9))[0]
    if kind == "n":
        text = _whole(d, 3)
        d.numbers.append(d.name("n"))
        return Statement(f"{d.numbers[-1]} = {text}")
    if kind == "r":
        text = _real(d, 2)
        d.reals.append(d.name("r"))
        return Statement(f"{d.reals[-1]} = {text}")
    text = _value(d)
    d.tensors.append(d.name("t"))
    return Statement(f"{d.tensors[-1]} = {text}")


def _change(d: _Drawing) -> Statement:
    """An assignment to what there is."""
    made = [name for name in d.tensors if name.startswith("t")]
    if d.numbers and d.rng.random() < 0.25:
        return Statement(f"{d.rng.choice(d.numbers)} = {_whole(d)}")
    if not made:
        return _simple(d)
    name = d.rng.choice(made)
    same = (
        f"{name} * 2", f"{name} + {_whole(d, 1)}", f"{name} * {_real(d)}", f"-{name}", _value(d),
        f"{name}[{_slice(d)}]", f"torch.cat([{name}, {name}])", f"{name}.flip(0)",
    )  # fmt: skip
    if d.rng.random() < 0.15:
        written = f"{name}[{_slice(d)}] = {d.pick('1.5', _whole(d, 0))}"
        return Statement(f"{name} = {name}.clone(); {written}")
    return Statement(f"{name} = {d.rng.choice(same)}")


def _block(d: _Drawing) -> tuple[Statement, ...]:
    return tuple(_change(d) for _ in range(d.rng.randint(1, 2)))


def _statement(d: _Drawing) -> Statement:
    kind = d.rng.choices(
        ("simple", "if", "if else", "return", "for", "while", "check", "exits"),
        (12, 2, 2, 1, 1.2, 0.8, 0.7, 0.8),
    )[0]
    if kind == "if":
        return Statement(f"if {_truth(d)}:", _block(d))
    if kind == "if else":
        return Statement(f"if {_truth(d)}:", _block(d), _block(d))
    if kind == "return":
        return Statement(f"if {_truth(d)}:", (Statement(f"return ({d.tensor()} * 3,)"),))
    if kind == "for":
        trips = d.pick(f"min({_whole(d, 1)}, 3)", f"{_whole(d, 0)} // 8", f"{_whole(d, 0)} % 3")
        return Statement(f"for i in range({trips}):", (_change(d),))
    if kind == "while" and d.numbers:
        n = d.rng.choice(d.numbers)
        body = (*_block(d)[:1], Statement(f"{n} = {d.pick(f'{n} // 2', f'{n} - 4')}"))
        return Statement(f"while {n} > {d.rng.randint(1, 4)}:", body)
    if kind == "check":
        if d.rng.random() < 0.5:
            return Statement(f"assert {_truth(d)}")
        return Statement(f"if {_truth(d)}:", (Statement("raise ValueError('sizes')"),))
    if kind == "exits":
        stop = d.pick("break", "continue", f"return ({d.tensor()} - 1,)")
        body = (Statement(f"if i {d.pick('>', '==')} {_whole(d, 1)}:", (Statement(stop),)),)
        return Statement(f"for i in range({d.rng.randint(2, 4)}):", (*body, _change(d)))
    return _simple(d)


def draw(seed: int) -> SizeProgram:
    """The program of a seed."""
    rng = random.Random(seed)
    shapes = tuple(rng.choice(_SHAPES) for _ in range(rng.choice((1, 1, 2))))
    least = rng.choice((0, 0, 0, 0, 1, 2, None, None, None))
    program = SizeProgram(shapes, (), (), least, seed)
    names = list("abc"[: len(shapes)])
    drawing = _Drawing(rng, names)
    valid = [sizes for sizes in SIZES if min(sizes.values()) >= (least or 0)]
    wanted = rng.randint(2, 7)
    for _ in range(wanted * 6):
        if len(program.statements) == wanted:
            break
        before = (list(drawing.tensors), list(drawing.numbers), list(drawing.reals))
        statement = _statement(drawing)
        larger = replace(
            program,
            statements=(*program.statements, statement),
            results=_results(drawing, names),
        )
        here = [sizes for sizes in valid if larger.results and runs_at(larger, sizes)]
        if EXAMPLE in here and 2 * len(here) > len(valid):
            program, valid = larger, here
        else:
            drawing.tensors, drawing.numbers, drawing.reals = before
    return program


def _results(drawing: _Drawing, given: list[str]) -> tuple[str, ...]:
    made = [name for name in drawing.tensors if name not in given]
    numbers = [f"torch.full((1,), {name})" for name in drawing.numbers]
    return tuple(made + numbers)


def runs_at(program: SizeProgram, sizes: dict[str, int]) -> bool:
    """Whether eager PyTorch takes the sizes, and what it gives is of modest size."""
    try:
        results = program.module()(*program.values(sizes))
    except Exception:
        return False
    return all(
        isinstance(each, torch.Tensor)
        and each.numel() <= _MAX_ELEMENTS
        and (each.numel() == 0 or float(each.nan_to_num(0, 0, 0).abs().max()) < _MAX_VALUE)
        for each in results
    )

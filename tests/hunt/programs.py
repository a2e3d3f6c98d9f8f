"""Random programs as text, drawn line by line: a line that PyTorch refuses is drawn again."""

from __future__ import annotations

import functools
import linecache
import random
import re
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from .operators import CONTROL, FAMILIES, Operator

# The example's sizes; different, so that one is not taken for the other.
EXAMPLE = {"n": 5, "m": 3}
_DTYPES = ("float32",) * 6 + (
    "float64", "float16", "bfloat16", "int64", "int64", "int32", "uint8", "int8", "bool",
)  # fmt: skip
_HOLE = re.compile(r"{(\w)}")
_SHORT = (torch.float16, torch.bfloat16)
_MAX_ELEMENTS = 4000
# Of infinities, ONNX Runtime's Gelu gives infinity where PyTorch has NaN, and distances by products
# NaN where PyTorch has infinity.
_OF_FINITE = ("gelu", "cdist")
_OF_APART = ("median", "select_scatter", "slice_scatter")


@dataclass(frozen=True)
class Input:
    name: str
    dtype: str
    dims: tuple[str | int, ...]

    def value(self, sizes: dict[str, int], seed: int, special: bool) -> torch.Tensor:
        """Numbers of few bits; with NaN, infinities and negative zero where `special`."""
        shape = [sizes[d] if isinstance(d, str) else d for d in self.dims]
        made = torch.Generator().manual_seed(seed)
        dtype = getattr(torch, self.dtype)
        whole = torch.randint(-9, 10, shape, generator=made)
        if dtype == torch.bool:
            return whole > 0
        if not dtype.is_floating_point:
            return (whole.abs() if dtype == torch.uint8 else whole // 2).to(dtype)
        numbers = whole.to(dtype) / 4
        if special:
            odd = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0], dtype=dtype)
            where = torch.randint(0, 12, shape, generator=made)
            numbers = torch.where(where < 4, odd[where.clamp(max=3)], numbers)
        return numbers


@dataclass(frozen=True)
class Line:
    target: str  # empty for a line that writes
    text: str

    def reads(self, name: str) -> bool:
        return re.search(rf"\b{name}\b", self.text) is not None


@dataclass(frozen=True)
class Program:
    inputs: tuple[Input, ...]
    lines: tuple[Line, ...]
    special: bool = False
    seed: int = 0

    def results(self) -> list[str]:
        """What is returned: what no other line reads, and what is written to."""
        names = [line.target for line in self.lines if line.target]
        writes = [line for line in self.lines if not line.target]
        return [
            name
            for name in names
            if not any(line.reads(name) for line in self.lines if line.target)
            or any(line.reads(name) for line in writes)
        ]

    def text(self) -> str:
        body = [f"{x.target} = {x.text}" if x.target else x.text for x in self.lines]
        body.append(f"return ({', '.join(self.results())},)")
        head = f"def forward(self, {', '.join(i.name for i in self.inputs)}):"
        return "\n".join([head, *("    " + line for line in body)]) + "\n"

    def module(self) -> torch.nn.Module:
        made: torch.nn.Module = _class_of(self.text(), f"<hunt {self.seed}>")()
        return made

    def values(self, sizes: dict[str, int]) -> tuple[torch.Tensor, ...]:
        return tuple(
            given.value(sizes, self.seed + 31 * i, self.special)
            for i, given in enumerate(self.inputs)
        )

    def dynamic_shapes(self, smallest: int | None) -> tuple[dict[int, Any], ...]:
        """Sizes of at least `smallest`, which torch.export may refuse; or None: what it makes of
        them, which is 2 and more, or constants."""
        dims: dict[str, Any] = dict.fromkeys("nm", torch.export.Dim.AUTO)
        if smallest is not None:
            dims = {name: torch.export.Dim(name, min=smallest, max=99) for name in "nm"}
        return tuple(
            {i: dims[d] for i, d in enumerate(given.dims) if isinstance(d, str)}
            for given in self.inputs
        )

    def without(self, index: int) -> Program:
        """This program without a line, and without those that read what it made."""
        gone = {self.lines[index].target} - {""}
        kept = []
        for i, line in enumerate(self.lines):
            if i == index or any(line.reads(name) for name in gone):
                gone |= {line.target} - {""}
            else:
                kept.append(line)
        return replace(self, lines=tuple(kept))


@functools.lru_cache(maxsize=8)
def _class_of(text: str, name: str) -> type[torch.nn.Module]:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"torch": torch}
    exec(compile(text, name, "exec"), space)
    return type("Hunted", (torch.nn.Module,), {"forward": space["forward"]})


@dataclass
class _Drawing:
    """A program as it grows, with what its values are in the example."""

    rng: random.Random
    values: dict[str, torch.Tensor]
    inexact: set[str] = field(default_factory=set)
    given: frozenset[str] = frozenset()
    special: bool = False

    def fill(self, operator: Operator) -> str | None:
        """The operator's text with its holes filled; None where there is nothing to fill one."""
        first: torch.Tensor | None = None
        last: dict[str, str] = {}
        found: list[str] = []

        def put(match: re.Match[str]) -> str:
            nonlocal first
            kind = match.group(1)
            if kind in "xeibtm":
                # An operator that names a hole twice means the same tensor half of the time.
                again = kind in last and (kind == "m" or self.rng.random() < 0.6)
                name = last[kind] if again else self._pick(kind, operator)
                if name is None:
                    return ""
                last[kind] = name
                found.append(name)
                first = self.values[name] if first is None else first
                return name
            rank = max(1, first.dim()) if first is not None else 1
            return {
                "d": lambda: str(self.rng.randrange(-rank, rank)),
                "p": lambda: str(self.rng.randint(1, 4)),
                "k": lambda: str(self.rng.randint(-3, 5)),
                "s": lambda: self.rng.choice(["0.5", "-1.5", "2.0", "0.0", "1.0"]),
            }[kind]()

        holes = sum(kind in "xeibtm" for kind in _HOLE.findall(operator.text))
        text = _HOLE.sub(put, operator.text)
        self.read = found
        return text if len(found) == holes else None

    def _pick(self, kind: str, operator: Operator) -> str | None:
        names = [name for name, value in self.values.items() if self._fits(kind, name, value)]
        if operator.writes and kind == "m":
            names = [name for name in names if name not in self.given or self.rng.random() < 0.2]
        # The later ones more often, so that programs are deep.
        return names[int(len(names) * self.rng.random() ** 0.5)] if names else None

    def _fits(self, kind: str, name: str, value: torch.Tensor) -> bool:
        exact = name not in self.inexact
        is_number = value.dtype != torch.bool
        return {
            "x": value.is_floating_point(),
            "e": exact and is_number,
            "i": exact and value.dtype == torch.int64,
            "b": value.dtype == torch.bool,
            "t": True,
            "m": is_number,
        }[kind]


def draw(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    inputs = tuple(
        Input(
            "abc"[i],
            rng.choice(_DTYPES),
            tuple(rng.choice(("n", "m", "n", "m", 1, 3, 2)) for _ in range(rng.randint(1, 3))),
        )
        for i in range(rng.randint(1, 3))
    )
    program = Program(inputs, (), special=rng.random() < 0.12, seed=seed)
    values = dict(zip("abc", program.values(EXAMPLE), strict=False))
    drawing = _Drawing(rng, values, given=frozenset(values), special=program.special)
    lines: list[Line] = []
    wanted = rng.randint(3, 9)
    families = [*FAMILIES, (CONTROL, 2)] if rng.random() < 0.06 else list(FAMILIES)
    for _ in range(wanted * 8):
        if len(lines) == wanted:
            break
        family = rng.choices([f for f, _ in families], [w for _, w in families])[0]
        line = _drawn(drawing, rng.choice(family), f"v{len(lines)}")
        if line is not None:
            lines.append(line)
    return replace(program, lines=tuple(lines))


def _drawn(drawing: _Drawing, operator: Operator, target: str) -> Line | None:
    text = drawing.fill(operator)
    if text is None or (drawing.special and any(name in text for name in _OF_FINITE)):
        return None
    space: dict[str, Any] = {"torch": torch, **drawing.values}
    before = {name: value._version for name, value in drawing.values.items()}
    try:
        # Eager median reads past the end of what expand() made, and copies that it scatters to
        # overlap as what unfold() made does.
        if (operator.writes or any(name in text for name in _OF_APART)) and any(
            _overlaps(drawing.values[name]) for name in drawing.read
        ):
            return None
        if operator.writes:
            exec(text, space)
        else:
            made = eval(text, space)
            if not isinstance(made, torch.Tensor) or made.numel() > _MAX_ELEMENTS:
                return None
            if made.is_floating_point() and made.numel() and _is_vast(made):
                return None
    except Exception:
        return None
    read_inexact = any(name in drawing.inexact for name in drawing.read)
    if operator.writes:
        # What is written reaches all that share its memory.
        if read_inexact or any(values.dtype in _SHORT for values in drawing.values.values()):
            changed = {n for n, v in drawing.values.items() if v._version != before[n]}
            drawing.inexact |= changed
        return Line("", text)
    drawing.values[target] = made
    # Numbers of few bits have more than these types hold once something is computed of them.
    is_short = made.dtype in _SHORT and made.numel() > 0
    if (read_inexact or is_short or not operator.is_exact) and made.is_floating_point():
        drawing.inexact.add(target)
    return Line(target, text)


def _overlaps(value: torch.Tensor) -> bool:
    """Whether elements may share memory: PyTorch does not define in-place mutation of those."""
    spans = sorted(
        (stride, size) for stride, size in zip(value.stride(), value.shape, strict=True) if size > 1
    )
    end = 0
    for stride, size in spans:
        if stride <= end:
            return True
        end += stride * (size - 1)
    return False


def _is_vast(value: torch.Tensor) -> bool:
    """Beyond what the smallest type that it may be cast to can hold exactly."""
    finite = value[value.isfinite()]
    return finite.numel() > 0 and float(finite.abs().max()) > 2000

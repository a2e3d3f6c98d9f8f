"""Random expressions of sizes, each in one place of a program: a bound of a slice, a number of
rows, an operand. They are small, so hundreds are compared in a minute."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .judge import Verdict
from .size_judge import judge
from .size_programs import EXAMPLE, SIZES, SizeProgram, Statement, runs_at

_SHAPES = (("n",), ("m",))
_NAMES = ("n", "m")
_SIZES_OF_INPUTS = (Statement("n = a.shape[0]"), Statement("m = b.shape[0]"))
_MAX_EXPRESSION = 4_000

# Where an expression E stands.
_PLACES = (
    "a + E", "a[E:]", "a[:E]", "a[-(E):]", "a[: E] + b", "a[E:] * b", "a[::max(E, 1)]",
    "torch.arange(E)", "torch.arange(E, n + 9, 2)", "torch.arange(max(E, 0)) + a.sum()",
    "torch.zeros(E) + 1", "torch.ones(max(E, 0), n).cumsum(0)", "torch.full((2,), E)",
    "torch.full((E,), 1.5)", "torch.nn.functional.pad(a, (0, E))", "a.roll(E, 0)",
    "a.repeat(max(E, 0))", "a.expand(max(E, 0), n) * 2",
    "a.unsqueeze(1).expand(n, max(E, 0)) + b.sum()",
    "a.reshape(-1, max(E, 1))", "a[: E].reshape(m)", "a[: E].reshape(-1, m)",
    "torch.cat([a, torch.ones(E)])", "torch.cat([torch.ones(2, E), torch.ones(1, m)])",
    "torch.ones(2, E) @ torch.ones(m, 2)", "torch.ones(E) + torch.ones(m)",
    "torch.stack([a[: E], a[: E]])", "torch.stack([a[: E].roll(1, 0)] * 2)",
    "a.narrow(0, 0, min(E, n))", "a.narrow(0, max(min(E, n - 1), 0), 1)",
    "a.split(max(E, 1))[0]", "a[: E].sum() / max(E, 1)", "torch.eye(min(max(E, 0), 9))",
    "a.new_zeros(E, 2).transpose(0, 1)", "torch.linspace(0, 1, E)", "a[min(E, n - 1)]",
    "torch.where(torch.arange(n) < E, a, 0.5)", "torch.ones(3, n).tril(E)",
    "torch.tensor(E) + b", "a[: E].unsqueeze(0).expand(m, -1).flatten()",
    "(a[: E] * a[: E].shape[0]).cumsum(0)", "(a[: E] + b) * len(a[: E] + b)",
    "torch.ones_like(a[: E])", "torch.zeros_like(a[-(E):]).cumsum(0) + 1", "a[: E] + a",
    "a[E:].new_full(a[E:].shape, 2)", "torch.cat([torch.ones_like(a[: E]), a])",
    "a.repeat(3)[: E].numel() + b", "a[: E].mean() + a[: E].unsqueeze(0).expand(m, -1)",
)  # fmt: skip


def draw(seed: int) -> SizeProgram:
    """The program of a seed; one without statements where eager PyTorch rejects all that is drawn
    first."""
    rng = random.Random(seed)
    for _ in range(20):
        least = rng.choice((0, 0, 1, 2, None, None, None))
        text = _expression(rng, rng.choice((1, 2, 2, 3, 3, 4)))
        place = rng.choice(_PLACES)
        program = _program(place.replace("E", text), least, seed)
        if "n" in text + place and _is_valid(program, text):
            return program
    return SizeProgram(_SHAPES, (), (), 0, seed)


def _program(text: str, least: int | None, seed: int) -> SizeProgram:
    statements = (*_SIZES_OF_INPUTS, Statement(f"t = {text}"))
    return SizeProgram(_SHAPES, statements, ("t",), least, seed)


def _is_valid(program: SizeProgram, text: str) -> bool:
    """Whether the program runs at the example's sizes and at others, with numbers of modest
    size."""
    count = 0
    for sizes in SIZES:
        value = _value(text, sizes)
        if value is not None and abs(value) < _MAX_EXPRESSION and runs_at(program, sizes):
            count += 1
        elif sizes is EXAMPLE:
            return False
    return count >= 3


def _value(text: str, sizes: dict[str, int]) -> int | None:
    """What the expression is; None where it divides by zero."""
    try:
        value: int = eval(text, {}, dict(sizes))
    except ArithmeticError:
        return None
    return value


def _expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        number = rng.choice((0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 16, -1, -1, -2, -3))
        return rng.choice((*_NAMES, *_NAMES, str(number)))
    a, b = _expression(rng, depth - 1), _expression(rng, rng.randint(0, depth - 1))
    k = rng.randint(1, 5)
    return rng.choices(
        (
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} // {b})", f"({a} % {b})",
            f"({a} // {k})", f"({a} % {k})", f"min({a}, {b})", f"max({a}, {b})", f"abs({a})",
            f"(-{a})", f"({a} // -{k})", f"({a} % -{k})", f"({a} & {(1 << k) - 1})",
            f"({a} << {k % 3})", f"({a} >> {k % 3})", f"divmod({a}, {b})[0]", f"({a} ** 2)",
        ),
        (4, 5, 3, 4, 3, 3, 2, 2, 2, 1, 1, 0.7, 0.7, 0.7, 0.5, 0.7, 0.5, 0.4),
    )[0]  # fmt: skip


def smaller(program: SizeProgram) -> Iterator[SizeProgram]:
    """Programs with one part of the expression in the place of what it is a part of, or with a
    name for a number."""
    text = program.statements[-1].text
    for tree in _trees(ast.parse(text)):
        shorter = ast.unparse(tree)
        if len(shorter) < len(text):
            yield replace(program, statements=(*program.statements[:-1], Statement(shorter)))


def _trees(tree: ast.Module) -> Iterator[ast.Module]:
    for index, node in enumerate(_operations(tree)):
        for part in range(len(_parts(node))):
            made = copy.deepcopy(tree)
            kept = _operations(made)[index]
            yield ast.fix_missing_locations(_Replaced(kept, _parts(kept)[part]).visit(made))


def _operations(tree: ast.AST) -> list[ast.AST]:
    return [each for each in ast.walk(tree) if isinstance(each, (ast.BinOp, ast.UnaryOp, ast.Call))]


def _parts(node: Any) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    return [each for each in node.args if not isinstance(each, ast.Starred)]


class _Replaced(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else self.generic_visit(node)


def shrunk(
    program: SizeProgram, verdict: Verdict, judged: Callable[..., Verdict] = judge, **how: Any
) -> tuple[SizeProgram, Verdict]:
    """The smallest program found that shows the same kind of fault."""
    tries, again = 0, True
    while again and tries < 60:
        again = False
        for each in smaller(program):
            tries += 1
            if not runs_at(each, EXAMPLE):
                continue
            found = judged(each, **how)
            if found.kind == verdict.kind:
                program, verdict, again = each, found, True
                break
    return program, verdict

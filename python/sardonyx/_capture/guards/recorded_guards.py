"""The conditions on sizes that torch.export recorded in a program: what Python's branches and
operators asked before the program came to us.

They are Python's text, `L['x'].size()[0] > 4`, and may come from a file: they are read, not run.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.meta_tracer.symbolic.relations import at_sizes
from sardonyx._torch_private.export import guards_code

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_SIZES = (2, 3, 4, 5, 7, 8, 16, 33, 64, 100, 1000, 4099)
_MAX_ROWS = 400
_MAX_SHOWN = 5
_MAX_POWER = 8

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"max": max, "min": min, "abs": abs}


class _UnknownError(Exception):
    """Text that is no arithmetic of sizes."""


def recorded_guards(program: ExportedProgram) -> list[Diagnostic]:
    """A warning (SX1015) with those that some sizes of at least 2 do not satisfy, where the
    program's inputs do not show it. Sizes of 0 and 1 are in no record of torch.export's."""
    found = []
    for text in guards_code(program):
        try:
            condition = ast.parse(text, mode="eval").body
            names = dict.fromkeys(_sizes_in(condition))
            if _may_fail(condition, _symbols(program, names)):
                found.append(_readable(text, names))
        except (_UnknownError, SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError):
            continue  # torch.export's record of types, say
    return [_note(list(dict.fromkeys(found)))] if found else []


def _sizes_in(node: ast.expr) -> list[str]:
    """The texts of the sizes that a condition asks of."""
    return [ast.unparse(each) for each in ast.walk(node) if _size_of(each) is not None]


def _size_of(node: ast.AST) -> tuple[str, int] | None:
    """The input and the axis of `L['x'].size()[0]`; None of anything else."""
    match node:
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=source, attr="size"), args=[]),
            slice=ast.Constant(value=int(axis)),
        ):
            return ast.unparse(source), axis
    return None


def _symbols(program: ExportedProgram, sizes: Mapping[str, None]) -> dict[str, Any]:
    """What the program has for each size: of equal ones the same symbol. One whose input is not
    found by its name, as of an argument in a list, stands for itself."""
    placeholders = {node.name: node for node in program.graph.find_nodes(op="placeholder")}
    symbols: dict[str, Any] = {}
    for text in sizes:
        source, axis = _size_of(ast.parse(text, mode="eval").body) or ("", 0)
        name = source.removeprefix("L['").removesuffix("']")
        value = placeholders[name].meta.get("val") if name in placeholders else None
        shape = getattr(value, "shape", ())
        size: Any = shape[axis] if axis < len(shape) else None
        symbols[text] = size.node.expr if hasattr(size, "node") else size
    return symbols


def _may_fail(condition: ast.expr, symbols: Mapping[str, Any]) -> bool:
    """Whether some sizes do not satisfy it."""
    free = sorted(
        {s for each in symbols.values() for s in getattr(each, "free_symbols", ())}, key=str
    )
    unknown = [text for text, symbol in symbols.items() if symbol is None]
    tried = itertools.product(_SIZES, repeat=len(free) + len(unknown))
    for row in itertools.islice(
        itertools.chain(_alike(len(free) + len(unknown)), tried), _MAX_ROWS
    ):
        known = dict(zip(free, row, strict=False))
        sizes = dict(zip(unknown, row[len(free) :], strict=True))
        for text, symbol in symbols.items():
            if symbol is not None:
                sizes[text] = int(
                    at_sizes(symbol, known) if hasattr(symbol, "xreplace") else symbol
                )
        if not _value(condition, sizes):
            return True
    return False


def _alike(count: int) -> list[tuple[int, ...]]:
    return [(size,) * count for size in _SIZES]


def _value(node: ast.expr, sizes: Mapping[str, int]) -> Any:
    """What the text is where the sizes are these."""
    if _size_of(node) is not None:
        return sizes[ast.unparse(node)]
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
            if 0 <= power <= _MAX_POWER:
                return _value(left, sizes) ** power
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, sizes))
        case ast.BoolOp(op=op, values=values):
            truths = [_value(each, sizes) for each in values]
            return all(truths) if isinstance(op, ast.And) else any(truths)
        case ast.Compare(left=left, ops=ops, comparators=others):
            terms = [_value(each, sizes) for each in (left, *others)]
            compared: list[Callable[..., Any]] = [_OPERATORS.get(type(op), _unknown) for op in ops]
            return all(
                each(*pair) for each, pair in zip(compared, itertools.pairwise(terms), strict=True)
            )
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(each, sizes) for each in args))
    raise _UnknownError


def _unknown(*_: Any) -> bool:
    raise _UnknownError


def _readable(text: str, sizes: Mapping[str, None]) -> str:
    """With x.shape[0] for L['x'].size()[0]."""
    text = ast.unparse(ast.parse(text, mode="eval"))
    for each in sizes:
        source, axis = _size_of(ast.parse(each, mode="eval").body) or ("", 0)
        name = source.removeprefix("L['").removesuffix("']")
        text = text.replace(each, f"{name}.shape[{axis}]")
    return text


def _note(conditions: list[str]) -> Diagnostic:
    shown = "; ".join(conditions[:_MAX_SHOWN])
    more = len(conditions) - _MAX_SHOWN
    return Diagnostic(
        "SX1015",
        f"torch.export recorded that the program holds for sizes with {shown}"
        + (f"; and {more} more" if more > 0 else "")
        + ": what the module computes of other sizes may not be in the model",
        severity="warning",
        help="export the module itself, which keeps branches on sizes, or keep to such sizes",
    )

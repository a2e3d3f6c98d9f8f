"""Statements `if` whose body only computes local variables anew: `if n % 4 != 0: x = pad(x, …)`.

Such a body may run for all sizes where it changes nothing for those that the test denies.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from types import FrameType, ModuleType
from typing import NamedTuple

from sardonyx._capture.source_location import parsed

from .bytecode_control_flow import asked_position

# Methods of tensors that give new tensors, and change none.
_METHODS = frozenset(
    {"contiguous", "clone", "narrow", "new_zeros", "new_ones", "new_full", "size", "dim", "type_as"}
)
# Methods of tensors that give one size, and of how many arguments.
_SIZES_BY_ARGUMENTS = {"size": 1, "numel": 0, "dim": 0}
_BUILTINS = frozenset({"max", "min", "int", "len", "tuple", "list", "abs"})


class ConvertibleIf(NamedTuple):
    """An `if` without `else`, whose test is one question or several joined by `and` or `or`."""

    file: str
    first_line: int  # of the test, which an assignment before the `if` may make
    last_line: int  # of the body
    body: tuple[ast.stmt, ...]
    stored: frozenset[str]  # the names of the variables
    new: frozenset[str]  # those of them that nothing reads behind the body
    is_or: bool


def convertible_if(frame: FrameType) -> tuple[ConvertibleIf, bool] | None:
    """The `if` whose test asks something at the present instruction of `frame`, and whether no
    other part of the test is left; None of other questions."""
    place = asked_position(frame)
    if place is None:
        return None
    for parts, found in _around(place[0], frame.f_code.co_filename):
        for part in parts:
            if (part.lineno, part.col_offset) <= place < _end(part):
                own = {*frame.f_code.co_varnames, *frame.f_code.co_cellvars}
                is_known = found.stored <= own and _is_of_numbers(part, frame)
                is_known = is_known and _calls_torch_alone(found, frame)
                return (found, part is parts[-1]) if is_known else None
    return None


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _around(line: int, file: str) -> Iterator[tuple[tuple[ast.expr, ...], ConvertibleIf]]:
    """Those of the functions that have this line."""
    for function in _functions(file):
        if function.lineno <= line <= (function.end_lineno or line):
            yield from _of_function(function, file)


@functools.lru_cache(maxsize=64)
def _functions(file: str) -> tuple[ast.FunctionDef, ...]:
    return tuple(node for node in ast.walk(parsed(file)) if isinstance(node, ast.FunctionDef))


@functools.lru_cache(maxsize=512)
def _of_function(
    function: ast.FunctionDef, file: str
) -> tuple[tuple[tuple[ast.expr, ...], ConvertibleIf], ...]:
    return tuple(_those_of_function(function, file))


def _those_of_function(
    function: ast.FunctionDef, file: str
) -> Iterator[tuple[tuple[ast.expr, ...], ConvertibleIf]]:
    for block in _blocks(function):
        for index, statement in enumerate(block):
            if not isinstance(statement, ast.If) or statement.orelse:
                continue
            if (stored := _stored(statement.body)) is None:
                continue
            test, first = statement.test, statement.lineno
            parts = _parts(test)
            if isinstance(test, ast.Name) and index:
                named = _named_test(block[index - 1], test.id, function)
                if named is not None:
                    first, test = block[index - 1].lineno, named
                    # The last part may be asked where it is made, or by the `if`.
                    parts = (*_parts(named), statement.test)
            if parts is None or any(map(_is_negated, parts)):
                continue
            found = ConvertibleIf(
                file,
                first,
                statement.body[-1].end_lineno or statement.body[-1].lineno,
                tuple(statement.body),
                stored,
                frozenset(each for each in stored if not _is_read(each, statement, function)),
                isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or),
            )
            yield parts, found


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Lists of statements of a function, without those of functions within it."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
            for each in block:
                if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    yield from _blocks(each)


def _parts(test: ast.expr) -> tuple[ast.expr, ...]:
    return tuple(test.values) if isinstance(test, ast.BoolOp) else (test,)


def _is_negated(part: ast.expr) -> bool:
    """Whether the part is more than one question, or one whose answer is turned."""
    is_chain = isinstance(part, ast.Compare) and len(part.ops) != 1
    return is_chain or isinstance(part, (ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Call))


def _named_test(before: ast.stmt, name: str, function: ast.FunctionDef) -> ast.expr | None:
    """What the statement assigns to the name that only the `if` behind it reads."""
    if not isinstance(before, ast.Assign) or len(before.targets) != 1:
        return None
    target = before.targets[0]
    if not isinstance(target, ast.Name) or target.id != name:
        return None
    return before.value if len(_reads(name, function)) == 1 else None


def _reads(name: str, node: ast.AST) -> list[ast.Name]:
    return [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
    ]


def _stored(body: Sequence[ast.stmt]) -> frozenset[str] | None:
    """The variables that the body assigns; None where it does more."""
    stored = set()
    for statement in body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            return None
        stored.add(target.id)
    return frozenset(stored)


def _is_read(name: str, statement: ast.If, function: ast.FunctionDef) -> bool:
    """Whether something may read behind the `if` what its body assigns to the name."""
    own = set(map(id, _reads(name, statement)))
    others = [each for each in _reads(name, function) if id(each) not in own]
    covered: set[int] = set()
    for block in _blocks(function):
        is_assigned = False
        for each in block:
            reads = set(map(id, _reads(name, each)))
            is_assigned &= statement not in ast.walk(each)  # whose body assigns it anew
            if is_assigned:
                covered |= reads
            is_assigned |= _assigns(each, name) and not reads
    return any(id(each) not in covered for each in others)


def _assigns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in statement.targets
    )


def _is_of_numbers(part: ast.expr, frame: FrameType) -> bool:
    """Whether no comparison of lists or tuples asks, whose elements have answers of their own."""
    sides = [part.left, *part.comparators] if isinstance(part, ast.Compare) else []
    return all(
        isinstance(side, (ast.Constant, ast.BinOp, ast.Subscript))
        or (isinstance(side, ast.Call) and _is_number_of_call(side, frame))
        or (isinstance(side, ast.Attribute) and side.attr != "shape")
        or (
            isinstance(side, ast.Name)
            and not isinstance(frame.f_locals.get(side.id), (tuple, list))
        )
        for side in sides
    )


def _is_number_of_call(call: ast.Call, frame: FrameType) -> bool:
    """Whether the call is `pow(2, 31)`, or one as `x.size(0)` and `x.numel()`, which asks nothing
    itself."""
    if call.keywords:
        return False
    if isinstance(call.func, ast.Name):
        is_ours = call.func.id in frame.f_locals or call.func.id in frame.f_globals
        is_constant = all(isinstance(each, ast.Constant) for each in call.args)
        return call.func.id == "pow" and is_constant and not is_ours
    if not isinstance(call.func, ast.Attribute):
        return False
    return len(call.args) == _SIZES_BY_ARGUMENTS.get(call.func.attr, -1)


def _calls_torch_alone(found: ConvertibleIf, frame: FrameType) -> bool:
    """Whether the body calls no function but PyTorch's, methods of tensors and Python's of
    numbers: code of the model could change more than variables."""
    calls = (node for each in found.body for node in ast.walk(each) if isinstance(node, ast.Call))
    return all(_is_harmless(call.func, frame) for call in calls)


def _is_harmless(function: ast.expr, frame: FrameType) -> bool:
    if isinstance(function, ast.Name) and function.id in _BUILTINS:
        return True
    held = _global(function, frame)
    if held is not None:
        return getattr(held, "__module__", "").partition(".")[0] == "torch"
    return isinstance(function, ast.Attribute) and function.attr in _METHODS


def _global(node: ast.expr, frame: FrameType) -> object:
    """What a name of the module, or an attribute of a module, is; None of others."""
    if isinstance(node, ast.Name):
        return None if node.id in frame.f_locals else frame.f_globals.get(node.id)
    if isinstance(node, ast.Attribute):
        holder = _global(node.value, frame)
        return getattr(holder, node.attr, None) if isinstance(holder, ModuleType) else None
    return None

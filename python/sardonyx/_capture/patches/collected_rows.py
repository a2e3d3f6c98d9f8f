"""Lists that loops append tensors to, and that are only stacked or concatenated then.

Nothing else in their function reads such a list, so that one tensor may hold all of its elements.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

_JOINS = ("stack", "cat")


@dataclass(frozen=True)
class CollectedRows:
    """The tensors of such a list, [count, ...]."""

    tensor: torch.Tensor


def stack(rows: Any, dim: int = 0) -> torch.Tensor:
    """torch.stack(), also of collected rows."""
    if not isinstance(rows, CollectedRows):
        return torch.stack(rows, dim)
    return rows.tensor.movedim(0, dim)


def cat(rows: Any, dim: int = 0) -> torch.Tensor:
    """torch.cat(), also of collected rows."""
    if not isinstance(rows, CollectedRows):
        return torch.cat(rows, dim)
    axis = dim + rows.tensor.dim() - 1 if dim < 0 else dim
    return rows.tensor.movedim(0, axis).flatten(axis, axis + 1)


def collected_names(function: ast.FunctionDef) -> frozenset[str]:
    """The variables of a function that hold such lists."""
    made = {
        statement.targets[0].id
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and isinstance(statement.value, ast.List)
        and not statement.value.elts
    }
    found = set()
    for name in made:
        known = {id(each) for each in _known_uses(function, name)}
        uses = [each for each in ast.walk(function) if _is_use(each, name)]
        if all(id(each) in known for each in uses):
            found.add(name)
    return frozenset(found)


def appended(statement: ast.AST) -> tuple[ast.Name, ast.expr] | None:
    """The variable and the element of a statement `x.append(…)`; None of others."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    method = call.func
    if not isinstance(method, ast.Attribute) or method.attr != "append":
        return None
    (element,) = call.args
    if isinstance(element, ast.Starred) or not isinstance(method.value, ast.Name):
        return None
    return method.value, element


def joins_of(function: ast.AST, name: str) -> Iterator[ast.Call]:
    """The calls `torch.stack(x, …)` and `torch.cat(x, …)` of a variable."""
    for each in ast.walk(function):
        if (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr in _JOINS
            and isinstance(each.func.value, ast.Name)
            and each.func.value.id == "torch"
            and 1 <= len(each.args) <= 2
            and all(keyword.arg == "dim" for keyword in each.keywords)
            and _is_use(each.args[0], name)
        ):
            yield each


def _known_uses(function: ast.FunctionDef, name: str) -> Iterator[ast.AST]:
    for each in ast.walk(function):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.List):
            yield from each.targets if not each.value.elts and len(each.targets) == 1 else ()
        elif (found := appended(each)) is not None and found[0].id == name:
            yield found[0]
    for call in joins_of(function, name):
        yield call.args[0]


def _is_use(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name
    return isinstance(node, ast.arg) and node.arg == name

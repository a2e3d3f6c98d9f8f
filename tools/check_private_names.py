"""Checks that what packages do not promise is used in one package of ours for each of them.

`ROOMS` is the table. Refused everywhere else are modules that the package does not document, by
import or as text, what its root has besides classes, and, in packages of ours whose objects are
mostly its, attributes with an underscore that are not defined here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class Room(NamedTuple):
    """What may be used of a package outside of `folder`.

    Attributes:
        package: its name.
        folder: the package of ours that may use all of it.
        modules: those of its modules that it documents.
        objects_in: packages of ours in which attributes with an underscore are taken for its own.
    """

    package: str
    folder: str
    modules: tuple[str, ...] = ()
    objects_in: tuple[str, ...] = ()


ROOMS = (
    Room("transformers", "_transformers_private", ("utils.logging",), ("hf",)),
    Room("diffusers", "_diffusers_private"),
    Room("onnxruntime", "_runtime"),
)

# PyTorch's, of modules and storages; its own check looks at those.
_OF_TORCH = frozenset(("_buffers", "_modules", "_parameters"))


class Complaint(NamedTuple):
    """What is wrong on a line of a file."""

    file: Path
    line: int
    text: str


def check(package: Path, rooms: Iterable[Room] = ROOMS) -> list[Complaint]:
    """Every complaint about the Python package in this folder."""
    trees = {
        file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(package.rglob("*.py"))
    }
    own = {name for tree in trees.values() for name in names_of(tree)}
    found: list[Complaint] = []
    for room in rooms:
        for file, tree in trees.items():
            folder = file.relative_to(package).parts[0]
            if folder == room.folder:
                continue
            said = [*_imports(tree, room), *_attributes_of(tree, room), *_texts(tree, room)]
            if folder in room.objects_in:
                said += _private_attributes(tree, own, room)
            found += [Complaint(file, line, text) for line, text in said]
    return found


def names_of(tree: ast.Module) -> Iterator[str]:
    """The names that a file defines: functions, classes, variables, attributes, parameters."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and _is_assigned_to_self(node):
            yield node.attr


def _is_assigned_to_self(node: ast.Attribute) -> bool:
    """`self._held = …`, and no `tensor._is_hf_initialized = …`."""
    owner = node.value
    own = isinstance(owner, ast.Name) and owner.id in ("self", "cls")
    return own and isinstance(node.ctx, ast.Store)


def _imports(tree: ast.Module, room: Room) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for path in paths:
            package, _, inner = path.partition(".")
            if package == room.package and inner and not _is_public(inner, room):
                yield node.lineno, _told(path, room)


def _attributes_of(tree: ast.Module, room: Room) -> Iterator[tuple[int, str]]:
    """Of the package itself: `transformers.masking_utils`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id == room.package and not _is_public(node.attr, room):
            yield node.lineno, _told(f"{room.package}.{node.attr}", room)


def _texts(tree: ast.Module, room: Room) -> Iterator[tuple[int, str]]:
    """Of modules, as sys.modules and import_module() take them: "transformers.cache_utils"."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        package, _, inner = node.value.partition(".")
        names = inner.replace(":", ".").split(".")
        is_path = package == room.package and all(name.isidentifier() for name in names)
        if is_path and not _is_public(inner, room):
            yield node.lineno, _told(node.value, room)


def _is_public(inner: str, room: Room) -> bool:
    """Whether it is a class of the root, a module that is documented or the way to one."""
    if "." not in inner and (inner[0].isupper() or inner == "__version__"):
        return True
    return any(f"{known}.".startswith(f"{inner}.") for known in room.modules)


def _private_attributes(tree: ast.Module, own: set[str], room: Room) -> Iterator[tuple[int, str]]:
    known = own | _OF_TORCH
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = "" if _is_of(node, "torch") else node.attr
        elif isinstance(node, ast.Call) and _asks_for_attribute(node):
            name = node.args[1].value  # type: ignore[attr-defined]
        else:
            continue
        if name.startswith("_") and not name.startswith("__") and name not in known:
            yield node.lineno, _told(f"an object's {name}", room)


def _is_of(node: ast.expr, package: str) -> bool:
    """Whether it is an attribute of a package: `torch._C.function`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == package


def _asks_for_attribute(call: ast.Call) -> bool:
    """Whether it is getattr(x, "name") or one of its like."""
    asks = isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr", "setattr")
    named = len(call.args) > 1 and isinstance(call.args[1], ast.Constant)
    return asks and named and isinstance(call.args[1].value, str)  # type: ignore[attr-defined]


def _told(what: str, room: Room) -> str:
    return f"{what} is private to {room.package}, and belongs into {room.folder}"


def main() -> int:
    complaints = check(Path(__file__).resolve().parent.parent / "python" / "sardonyx")
    for file, line, text in complaints:
        print(f"{file}:{line}: {text}", file=sys.stderr)
    print(f"private names: {len(complaints)} outside of their packages")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks that private names of PyTorch stand in one package, `python/sardonyx/_torch_private`.

What is refused in every other file: imports of modules of torch that begin with an underscore or
are experimental, such names in texts (`"torch._ops"`), and attributes that begin with an
underscore, also by getattr() and its like, unless they are this package's own or stand in
`ELSEWHERE` or `IN_ROOMS`. Names of operators (`torch.ops.aten._to_copy`) are those of schemas, and
public.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOM = "_torch_private"
# Documented in spite of its name.
DOCUMENTED = frozenset({"_check"})
# Names that are private and not of PyTorch, or that are ours by name, and whose they are.
ELSEWHERE = {
    "_arg_descriptors": "torch.onnx.symbolic_helper, which sardonyx.symbolic_helper stands for",
    "_exit": "os",
    "_getframe": "sys",
    "_Inequality": "sympy",
    **dict.fromkeys(("_replace", "_asdict"), "collections.namedtuple"),
}
# Those of other packages, by the package of ours that alone may use them (check_private_names.py).
IN_ROOMS = {
    "_transformers_private": frozenset({
        "_can_set_experts_implementation", "_from_config", "_init_weights", "_is_hf_initialized",
        "_keys_to_ignore_on_load_missing", "_model_mapping", "_name_or_path",
    }),
}  # fmt: skip
_BY_NAME = frozenset({"getattr", "hasattr", "setattr", "delattr"})
_IN_TEXT = re.compile(r"torch(?:\.\w+)*\._[a-zA-Z]\w*|torch\.fx\.experimental\b")
_EXPERIMENTAL = "torch.fx.experimental"


def is_private(name: str) -> bool:
    """Whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__") and name != "_"


def own_names(trees: list[ast.Module]) -> set[str]:
    """Private names that this package defines: functions, classes, attributes of `self`, fields."""
    found: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and _is_set_by_itself(node):
                found.add(node.attr)
    return {name for name in found if is_private(name)}


def _is_set_by_itself(node: ast.Attribute) -> bool:
    of = node.value
    is_self = isinstance(of, ast.Name) and of.id in ("self", "cls")
    return is_self and isinstance(node.ctx, ast.Store)


def names_of_torch(trees: list[ast.Module]) -> set[str]:
    """Private attributes that the package for them reads of others."""
    own = own_names(trees)
    nodes = (node for tree in trees for node in ast.walk(tree))
    found = {node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_of_others(node)}
    return found - own - DOCUMENTED - set(ELSEWHERE)


def _is_of_others(node: ast.Attribute) -> bool:
    of = node.value
    return is_private(node.attr) and not (isinstance(of, ast.Name) and of.id in ("self", "cls"))


def _is_operator(node: ast.Attribute) -> bool:
    return ast.unparse(node).startswith(("torch.ops.", "_aten.", "aten."))


def complaints_in(tree: ast.Module, allowed: set[str]) -> Iterator[tuple[int, str]]:
    """The line and what is wrong there, if no names with an underscore but these are allowed."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                yield from _imported(node.lineno, f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _imported(node.lineno, alias.name)
        elif isinstance(node, ast.Attribute) and _is_of_others(node) and not _is_operator(node):
            if node.attr not in allowed:
                yield node.lineno, f"{ast.unparse(node)} is private"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = node.args[1] if len(node.args) > 1 else None
            name = str(asked.value) if isinstance(asked, ast.Constant) else ""
            if node.func.id in _BY_NAME and is_private(name) and name not in allowed:
                yield node.lineno, f"{ast.unparse(node)} asks for a private name"
        elif isinstance(node, ast.Constant) and id(node) not in documentation:
            found = _IN_TEXT.search(node.value) if isinstance(node.value, str) else None
            if found is not None:
                yield node.lineno, f"{found[0]!r} is private"


def _imported(line: int, path: str) -> Iterator[tuple[int, str]]:
    parts = path.split(".")
    if parts[0] == "torch" and (any(map(is_private, parts)) or path.startswith(_EXPERIMENTAL)):
        yield line, f"{path} is private"


def check(package: Path) -> list[str]:
    """Every complaint about the Python package in this folder."""
    files = {file: ast.parse(file.read_text(encoding="utf-8")) for file in package.rglob("*.py")}
    room = [tree for file, tree in files.items() if ROOM in file.parts]
    others = {file: tree for file, tree in files.items() if ROOM not in file.parts}
    own = own_names(list(others.values())) - names_of_torch(room)
    anywhere = own | DOCUMENTED | set(ELSEWHERE)
    found = []
    for file, tree in sorted(others.items()):
        allowed = anywhere.union(*(IN_ROOMS.get(folder, ()) for folder in file.parts))
        found += [
            f"{file}:{line}: {said}; what is private of PyTorch belongs into {ROOM}"
            for line, said in sorted(set(complaints_in(tree, allowed)))
        ]
    return found


def main() -> int:
    complaints = check(Path(__file__).resolve().parent.parent / "python" / "sardonyx")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"private names of PyTorch: {len(complaints)} outside of their package")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks that the Python packages depend on each other only in the direction of the design.

Every import of every module is compared with `PACKAGES`, wherever it is and even if it is for types
alone. Modules must not import each other in a circle either, in one package or across packages.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# What each package may know: those named here, and not what these know in turn.
PACKAGES: dict[str, tuple[str, ...]] = {
    "_base": (),
    "_torch_private": ("_base",),
    "_transformers_private": ("_base", "_torch_private"),
    "_diffusers_private": ("_base",),
    "ops": ("_base",),
    "_capture": ("_base", "_torch_private", "_transformers_private", "ops"),
    "_translate": ("_base", "_torch_private"),
    "_runtime": ("_base",),
    "_compare": ("_base",),
    "_model": ("_base", "_torch_private", "_runtime", "_compare"),
    "_report": ("_base", "_compare", "_model"),
    "_optimize": ("_base", "_model"),
    "_export": (
        "_base", "_torch_private", "_transformers_private", "ops", "_capture", "_translate",
        "_runtime", "_compare", "_model", "_report", "_optimize",
    ),
    "_debugging": (
        "_base", "_torch_private", "_capture", "_runtime", "_compare", "_model", "_export",
    ),
    "hf": (
        "_base", "_torch_private", "_transformers_private", "_diffusers_private", "_capture",
        "_translate", "_runtime", "_compare", "_model", "_report", "_optimize", "_export",
    ),
    "transformers": (
        "_base", "_torch_private", "_transformers_private", "_runtime", "_compare", "_model",
        "_optimize", "_export", "hf",
    ),
    "_refresh": ("_base", "_model", "hf"),
    "_quantize": ("_base", "_model", "_runtime", "_optimize"),
    "_serve": ("_base", "_model", "_export"),
    "_cli": (
        "_base", "_torch_private", "_transformers_private", "_diffusers_private", "_runtime",
    ),
    "_legacy": (
        "_base", "_torch_private", "_capture", "_translate", "_model", "_report", "_export",
    ),
}  # fmt: skip

# The modules of the root hold public names; no package knows them.
ROOT = (
    "__init__",
    "__main__",
    "errors",
    "op",
    "operators",
    "symbolic_helper",
    "utils",
    "verification",
)
NATIVE = "_native"


class Import(NamedTuple):
    """The module `target`, "_base.errors", imported on a line of `module`."""

    module: str
    line: int
    target: str


def modules_of(package: Path) -> dict[str, Path]:
    """The modules by name relative to the package; that of the package itself is "__init__"."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        inner = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
        found[".".join(inner)] = file
    return found


def imports_of(name: str, file: Path, modules: dict[str, Path], top: str) -> Iterator[Import]:
    """What of the package `top` one of its modules imports."""
    own = [] if name == "__init__" else name.split(".")
    folder = own if file.name == "__init__.py" else own[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
            inside = [path[1:] for path in paths if path[0] == top]
        elif isinstance(node, ast.ImportFrom):
            written = node.module.split(".") if node.module else []
            if node.level:
                base = folder[: len(folder) + 1 - node.level] + written
            elif written[0] == top:
                base = written[1:]
            else:
                continue
            inside = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for path in inside:
            yield Import(name, node.lineno, _module(path, modules))


def _module(path: list[str], modules: dict[str, Path]) -> str:
    """The module that a path names, or that has the name at the end of it."""
    for length in range(len(path), 0, -1):
        name = ".".join(path[:length])
        if name in modules or name == NATIVE:
            return name
    return "__init__"


def package_of(module: str) -> str:
    """The package of the table that a module is in; "" for those of the root."""
    first = module.split(".", maxsplit=1)[0]
    return first if first in PACKAGES else ""


def complaint_about(found: Import) -> str | None:
    """What is wrong with an import as such."""
    source, target = package_of(found.module), package_of(found.target)
    if not source or found.target == NATIVE or source == target:
        return None
    if not target:
        return f"package {source} must not import the root's {found.target}"
    if target not in PACKAGES[source]:
        return f"package {source} must not know package {target} ({found.target})"
    return None


def circles(imports: list[Import]) -> Iterator[list[str]]:
    """Modules that import each other: each circle once, from its first module."""
    reads: dict[str, set[str]] = {}
    for found in imports:
        if found.target not in (NATIVE, found.module):
            reads.setdefault(found.module, set()).add(found.target)
    settled: set[str] = set()

    def follow(path: list[str]) -> Iterator[list[str]]:
        for target in sorted(reads.get(path[-1], ())):
            if target in path:
                yield path[path.index(target) :]
            elif target not in settled:
                yield from follow([*path, target])
        settled.add(path[-1])

    for module in sorted(reads):
        if module not in settled:
            yield from follow([module])


def check(package: Path) -> list[str]:
    """Every complaint about the Python package in this folder."""
    modules = modules_of(package)
    complaints = [
        f"{file}: is in no package of the table of {Path(__file__).name}"
        for name, file in modules.items()
        if not package_of(name) and name not in ROOT
    ]
    imports = [
        found
        for name, file in modules.items()
        for found in imports_of(name, file, modules, package.name)
    ]
    for found in imports:
        if complaint := complaint_about(found):
            complaints.append(f"{modules[found.module]}:{found.line}: {complaint}")
    # The root's own names are looked up when they are asked for.
    inner = [found for found in imports if found.module != "__init__"]
    complaints += [f"circle of imports: {' -> '.join([*c, c[0]])}" for c in circles(inner)]
    return complaints


def main() -> int:
    complaints = check(Path(__file__).resolve().parent.parent / "python" / "sardonyx")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"packages: {len(complaints)} violations of the drawn direction")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

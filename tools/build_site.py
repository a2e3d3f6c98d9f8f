"""Builds the site: copies the pages of docs/, writes the reference from docstrings, headers and the
command's own help, and runs mkdocs, which fails on a link that leads nowhere.

    python tools/build_site.py COMMAND MKDOCS     (see `make site`)
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build-site" / "pages"
CODE = re.compile(r"^\| (SX\d{4}) \|", re.MULTILINE)
FENCE = "```"


def main() -> int:
    """Writes build-site/site; returns mkdocs' exit code."""
    command, mkdocs = sys.argv[1:]
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("screenshots"))
    for name, source in {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        (PAGES / name).write_text(text.replace("(docs/", "("), encoding="utf-8")
    diagnostics = PAGES / "diagnostics.md"
    # Each error has an address: diagnostics/#SX1301.
    anchored = CODE.sub(r'| <a id="\1"></a>\1 |', diagnostics.read_text(encoding="utf-8"))
    diagnostics.write_text(anchored, encoding="utf-8")
    draw = [sys.executable, str(ROOT / "tools/draw_pictures.py"), command, str(PAGES / "images")]
    subprocess.run(draw, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths()}, check=True)
    reference = PAGES / "reference"
    reference.mkdir()
    (reference / "python.md").write_text(python_reference(), encoding="utf-8")
    (reference / "cpp.md").write_text(header_reference(), encoding="utf-8")
    (reference / "command-line.md").write_text(command_reference(command), encoding="utf-8")
    for page in PAGES.rglob("*.md"):
        page.write_text(at_home(page, page.read_text(encoding="utf-8")), encoding="utf-8")
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        [mkdocs, "build", "--strict", "-q"], cwd=ROOT, env=quiet, check=False
    ).returncode


def paths() -> str:
    """Where Python finds the package, and the models of the tests."""
    return os.pathsep.join([str(ROOT), *filter(None, sys.path)])


def at_home(page: Path, text: str) -> str:
    """Links to files of the project that are no pages become their names."""

    def linked(match: re.Match[str]) -> str:
        label, target = match.groups()
        path = target.partition("#")[0]
        if not path or "://" in path or (page.parent / path).exists():
            return match[0]
        return str(label)

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", linked, text)


def python_reference() -> str:
    """Every public name of `sardonyx` with its signature and docstring."""
    import sardonyx

    parts = ["# Python\n"]
    for name in sorted(sardonyx.__all__, key=str.lower):
        value = getattr(sardonyx, name)
        if inspect.ismodule(value):
            continue
        parts.append(f"## {name}\n\n{FENCE}python\n{signature(name, value)}\n{FENCE}\n")
        parts.append(docstring(value))
        if inspect.isclass(value) and not issubclass(value, BaseException):
            parts.extend(members(value))
    return "\n".join(parts)


def signature(name: str, value: object) -> str:
    """As it is called, a parameter a line where it is long."""
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    line = f"{name}{found}"
    if len(line) < 90:
        return line
    parameters = ",\n    ".join(map(str, found.parameters.values()))
    return f"{name}(\n    {parameters},\n)"


def docstring(value: object) -> str:
    """As a block of its own where it is no Markdown."""
    return (inspect.getdoc(value) or "").replace("<", "&lt;") + "\n"


def members(value: type) -> list[str]:
    """The methods and properties that have something to say."""
    parts = []
    for name, member in vars(value).items():
        told = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not callable(told) or not inspect.getdoc(told):
            continue
        shown = name if isinstance(member, property) else signature(name, told)
        parts.append(f"### {value.__name__}.{name}\n\n{FENCE}python\n{shown}\n{FENCE}\n")
        parts.append(docstring(told))
    return parts


def header_reference() -> str:
    """The headers themselves: they say what everything does."""
    parts = ["# C++ and C\n"]
    for header in sorted((ROOT / "include" / "sardonyx").glob("*.h")):
        text = header.read_text(encoding="utf-8")
        language = "c" if header.name in ("c.h", "plugin.h") else "cpp"
        parts.append(f"## sardonyx/{header.name}\n\n{FENCE}{language}\n{text}{FENCE}\n")
    return "\n".join(parts)


def command_reference(command: str) -> str:
    """What each command's --help says."""
    parts = ["# Command line\n"]
    shown = subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  (\w+)  ", shown.partition("Subcommands:")[2], re.MULTILINE)
    for words in ([], *([name] for name in commands)):
        told = subprocess.run(
            [command, *words, "--help"], capture_output=True, text=True, check=False
        ).stdout
        parts.append(f"## {' '.join(['sardonyx', *words])}\n\n{FENCE}text\n{told}{FENCE}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())

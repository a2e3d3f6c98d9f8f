"""Lists ATen's functional overloads by family, and which of them the library translates.

With the captured programs of ``tests.opinfo`` in its cache, each target shows how many samples and
how many entries of PyTorch's operator database call it.

    python tools/list_operators.py --captured .cache/opinfo > operators.md
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.operator_families import FAMILIES, family_of  # noqa: E402

_SCHEMA = re.compile(r'"((?:[a-z_0-9]+)::[A-Za-z_0-9]+(?:\.[A-Za-z_0-9]+)?)\(')


@dataclass
class Target:
    """What captured programs call, and how often."""

    name: str  # "aten.addmm.default"
    family: str
    translated: bool = False
    samples: int = 0
    entries: set[str] = field(default_factory=set)


def functional_overloads() -> list[str]:
    """aten's overloads that write to none of their arguments."""
    found = []
    for schema in torch._C._jit_get_all_schemas():
        writes = any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
        values = [*schema.arguments, *schema.returns]
        tensors = any("Tensor" in str(v.type) for v in values)  # else TorchScript's own numbers
        if schema.name.startswith("aten::") and tensors and not writes:
            found.append(_target(schema.name, schema.overload_name))
    return sorted(set(found))


def translated_overloads() -> set[str]:
    """The targets that have a row in src/aten."""
    found = set()
    for path in (ROOT / "src" / "aten").rglob("*.cpp"):
        for name in _SCHEMA.findall(path.read_text()):
            base, _, overload = name.partition(".")
            found.add(_target(base, overload))
    return found


def _target(qualified: str, overload: str) -> str:
    return f"{qualified.replace('::', '.')}.{overload or 'default'}"


def count_calls(cache: Path, targets: dict[str, Target]) -> int:
    """Adds the calls of captured programs; returns how many programs there are."""
    from tests.opinfo.store import captured_programs

    programs = 0
    for unit, captured in captured_programs(cache):
        programs += 1
        for name in set(captured.targets):
            base = name.split(".")[1] if name.count(".") > 1 else name
            family = family_of(base) if name.startswith("aten.") else "not aten"
            target = targets.setdefault(name, Target(name, family or "outside"))
            target.samples += 1
            target.entries.add(unit.op)
    return programs


def listing(targets: dict[str, Target], programs: int, called_only: bool) -> str:
    by_family: dict[str, list[Target]] = defaultdict(list)
    for target in targets.values():
        if target.samples or not called_only:
            by_family[target.family].append(target)
    order = [family for family, _ in FAMILIES]
    order += sorted(set(by_family) - set(order))
    counted = [t for ts in by_family.values() for t in ts]
    done = sum(t.translated for t in counted)
    lines = [f"# {len(counted)} call targets, {done} translated", ""]
    if programs:
        called = [t for t in counted if t.samples]
        lines += [
            (
                f"{programs} captured samples call {len(called)} of them, "
                f"{sum(t.translated for t in called)} translated."
            ),
            "`+` has a row; samples; entries of the operator database.",
            "",
        ]
    for family in order:
        members = sorted(by_family.get(family, []), key=lambda t: (-t.samples, t.name))
        if not members:
            continue
        done = sum(t.translated for t in members)
        lines.append(f"## {family} ({done} of {len(members)})")
        lines.append("")
        for t in members:
            mark = "+" if t.translated else "-"
            lines.append(f"{mark} `{t.name}` {t.samples or ''} {len(t.entries) or ''}".rstrip())
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captured", type=Path, help="cache folder of tests.opinfo")
    parser.add_argument("--called", action="store_true", help="only targets that samples call")
    options = parser.parse_args()
    targets = {}
    for name in functional_overloads():
        family = family_of(name.split(".")[1])
        if family is not None:
            targets[name] = Target(name, family)
    programs = count_calls(options.captured, targets) if options.captured else 0
    rows = translated_overloads()
    for target in targets.values():
        target.translated = target.name in rows
    print(listing(targets, programs, options.called))


if __name__ == "__main__":
    main()

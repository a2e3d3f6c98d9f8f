"""What changed between the versions of ONNX's operators, from the installed `onnx` package.

tools/list_opset_changes.py [OPERATOR...]   print a line for each difference, opset 6 to the newest
tools/list_opset_changes.py 28              of this opset, with the operators that it brought

tests/opset_changes asks of each that a model is upgraded and downgraded across it with its
answers, or rejected.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import onnx

OLDEST = 6


@dataclass(frozen=True, order=True)
class Change:
    """What an opset has otherwise than the one before, of one operator."""

    op: str
    since: int  # the first opset that has it
    kind: str  # attribute, input, output, type
    what: str  # "axis added", "T gains bfloat16"

    def __str__(self) -> str:
        return f"{self.op} {self.since}: {self.kind} {self.what}"


def changes() -> list[Change]:
    """Of the operators of the standard's domain, in order."""
    versions: dict[str, list[Any]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions[schema.name].append(schema)
    found: list[Change] = []
    for op, schemas in sorted(versions.items()):
        schemas.sort(key=lambda schema: schema.since_version)
        for older, newer in pairwise(schemas):
            if newer.since_version > OLDEST:
                found += [Change(op, newer.since_version, *each) for each in between(older, newer)]
    return found


def between(older: Any, newer: Any) -> Iterator[tuple[str, str]]:
    if newer.deprecated and not older.deprecated:
        yield "operator", "deprecated"
        return
    yield from attributes(older.attributes, newer.attributes)
    yield from formals("input", older.inputs, newer.inputs)
    yield from formals("output", older.outputs, newer.outputs)
    yield from types(older, newer)


def default(attribute: Any) -> Any:
    if not attribute.default_value.type:
        return None
    return onnx.helper.get_attribute_value(attribute.default_value)


def attributes(older: Any, newer: Any) -> Iterator[tuple[str, str]]:
    for name in sorted(set(older) | set(newer)):
        if name not in newer:
            yield "attribute", f"{name} removed"
        elif name not in older:
            yield "attribute", f"{name} added"
        elif default(older[name]) != default(newer[name]):
            yield "attribute", f"{name} defaults to {default(newer[name])!r}"
        elif older[name].required != newer[name].required:
            word = "required" if newer[name].required else "optional"
            yield "attribute", f"{name} {word}"
        elif older[name].type != newer[name].type:
            yield "attribute", f"{name} is {newer[name].type.name}"


def formals(kind: str, older: Any, newer: Any) -> Iterator[tuple[str, str]]:
    for i in range(max(len(older), len(newer))):
        if i >= len(newer):
            yield kind, f"{older[i].name} removed"
        elif i >= len(older):
            yield kind, f"{newer[i].name} added"
        elif older[i].option != newer[i].option:
            yield kind, f"{newer[i].name} is {newer[i].option.name.lower()}"


def types(older: Any, newer: Any) -> Iterator[tuple[str, str]]:
    """Of each input and output, what it takes or gives."""
    for kind, before, after in (
        ("input", older.inputs, newer.inputs),
        ("output", older.outputs, newer.outputs),
    ):
        for old, new in zip(before, after, strict=False):
            gained, lost = new.types - old.types, old.types - new.types
            for type_name in sorted(gained):
                yield "type", f"{kind} {new.name} gains {type_name}"
            for type_name in sorted(lost):
                yield "type", f"{kind} {new.name} loses {type_name}"


def new_operators(opset: int) -> list[str]:
    """What the opset brought to the standard's domain."""
    versions: dict[str, list[int]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions[schema.name].append(schema.since_version)
    return sorted(op for op, found in versions.items() if min(found) == opset)


def main(asked: list[str]) -> int:
    opsets = {int(word) for word in asked if word.isdigit()}
    for opset in sorted(opsets):
        for op in new_operators(opset):
            print(f"{op} {opset}: new operator")
    for change in changes():
        if not asked or change.op in asked or change.since in opsets:
            print(change)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

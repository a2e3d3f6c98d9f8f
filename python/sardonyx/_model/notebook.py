"""A program as a notebook shows it: what goes in and out, and what each module became."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from sardonyx import _native

_DEPTH = 3  # modules open at first; further ones open by a click
_OPERATORS = 6  # named of each module


@dataclass
class _Module:
    operators: Counter[str] = field(default_factory=Counter)
    children: dict[str, _Module] = field(default_factory=dict)


def page_of(model: _native.Model, title: str, warnings: Sequence[str] = ()) -> str:
    """HTML that needs no script and no style of the page's."""
    warned = "".join(f"<div>{escape(each)}</div>" for each in warnings)
    return (
        f"<div><b>{escape(title)}</b>, opset {model.opsets['']}, {model.node_count} nodes{warned}"
        f"{_values('inputs', model.inputs)}{_values('outputs', model.outputs)}"
        f"{_tree('model', _modules(model), 0)}</div>"
    )


def _values(kind: str, values: list[Any]) -> str:
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(dtype)}</td><td>{escape(_shape(shape))}</td></tr>"
        for name, dtype, shape in values
    )
    return (
        f"<table><thead><tr><th>{kind}</th><th>type</th><th>shape</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _shape(shape: list[int | str | None] | None) -> str:
    if shape is None:
        return "?"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _modules(model: _native.Model) -> _Module:
    """The tree of modules that the main graph's nodes came from."""
    root = _Module()
    nodes, paths = _native.nodes(model), _native.module_paths(model)
    for (_, domain, operator, *_), path in zip(nodes, paths, strict=True):
        at = root
        for part in path.split(".") if path else ():
            at = at.children.setdefault(part, _Module())
        at.operators[f"{domain}::{operator}" if domain else operator] += 1
    return root


def _count(module: _Module) -> int:
    return module.operators.total() + sum(map(_count, module.children.values()))


def _tree(name: str, module: _Module, depth: int) -> str:
    most = module.operators.most_common(_OPERATORS)
    operators = ", ".join(escape(f"{count} {operator}" if count > 1 else operator)
                     for operator, count in most)  # fmt: skip
    if len(module.operators) > _OPERATORS:
        operators += ", …"
    head = f"<code>{escape(name)}</code> ({_count(module)}) {operators}"
    if not module.children:
        return f"<div style='margin-left:1.1em'>{head}</div>"
    children = "".join(_tree(part, child, depth + 1) for part, child in module.children.items())
    is_open = " open" if depth < _DEPTH - 1 else ""
    return (
        f"<details{is_open} style='margin-left:1em'><summary>{head}</summary>{children}</details>"
    )

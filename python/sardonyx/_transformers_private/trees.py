"""Any object as its tensors and a description of the rest, which is JSON, and back.

The description is the object's state: {"_t": "tensor", "i": 3} stands for the third tensor,
{"_t": "obj", "p": "module:class", "s": {…}} for an object with these attributes. It is the form of
transformers' own exporters, which the reader of programs knows, so that a program that they made is
read as one of ours.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterable
from typing import Any

import torch

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_PLAIN = (bool, int, float, str)


def flatten(value: Any) -> tuple[list[Any], Any]:
    """The tensors of a value, and symbolic numbers that are no constants, and what stands around
    them. TypeError for what has no state: a bound method, a file."""
    leaves: list[Any] = []
    return leaves, _described(value, leaves)


def unflatten(leaves: Iterable[Any], description: Any) -> Any:
    """The value that flatten() took apart, with other leaves."""
    return _restored(description, list(leaves))


class Number:
    """A number of an object, which is another one for other sizes: a leaf next to the tensors."""


def with_numbers(leaves: list[Any], description: Any, captured: Any) -> tuple[list[Any], Any]:
    """What flatten() returned for a value, with a Number for a leaf where the description of the
    same value in a captured program has a symbolic number."""
    merged: list[Any] = []

    def walk(known: Any, other: Any) -> Any:
        if type(known) in (bool, int, float) and _is_symbolic(other):
            return _leaf("sym", Number(), merged)
        if type(known) is list:
            same = type(other) is list and len(other) == len(known)
            return [walk(k, o) for k, o in zip(known, other if same else known, strict=True)]
        if type(known) is not dict:
            return known
        if known.get("_t") in ("tensor", "sym"):
            return _leaf(known["_t"], leaves[known["i"]], merged)
        others = other if type(other) is dict else {}
        return {name: walk(each, others.get(name)) for name, each in known.items()}

    return merged, walk(description, captured)


def symbolic_leaves(description: Any) -> dict[int, bool]:
    """By the number of a leaf, whether it is a symbolic number."""
    if type(description) is list:
        found = [symbolic_leaves(each) for each in description]
    elif type(description) is not dict:
        return {}
    elif description.get("_t") in ("tensor", "sym"):
        return {description["i"]: _is_symbolic(description)}
    else:
        found = [symbolic_leaves(each) for each in description.values()]
    return {leaf: symbolic for each in found for leaf, symbolic in each.items()}


def _is_symbolic(description: Any) -> bool:
    return type(description) is dict and description.get("_t") == "sym"


def _described(value: Any, leaves: list[Any]) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, torch.Tensor):
        return _leaf("tensor", value, leaves)
    if isinstance(value, _SYMBOLIC):
        # A symbolic number that is a constant by now would be one at some times and none at others.
        constant = _constant(value)
        return constant if constant is not None else _leaf("sym", value, leaves)
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return _described_container(value, leaves)
    if isinstance(value, torch.device):
        return {"_t": "device", "s": str(value)}
    if isinstance(value, (torch.dtype, torch.layout)):
        kind = "dtype" if isinstance(value, torch.dtype) else "layout"
        return {"_t": kind, "n": str(value).removeprefix("torch.")}
    if isinstance(value, type):
        return {"_t": "type", "p": path_of(value)}
    if not hasattr(value, "__dict__") or isinstance(value, (types.MethodType, types.FunctionType)):
        raise TypeError(f"a {type(value).__name__} cannot be flattened into tensors")
    state = {name: _described(each, leaves) for name, each in vars(value).items()}
    return {"_t": "obj", "p": path_of(type(value)), "s": state}


def _described_container(value: Any, leaves: list[Any]) -> Any:
    kind = type(value)
    if isinstance(value, torch.Size):
        return {"_t": "size", "v": list(value)}
    if kind is list:
        return [_described(each, leaves) for each in value]
    if not isinstance(value, dict):
        items = [_described(each, leaves) for each in value]
        return {"_t": "seq", "p": path_of(kind), "v": items}
    if kind is dict and not all(type(key) is str for key in value):
        # As pairs: keys of JSON are strings.
        return {"_t": "items", "v": [[k, _described(v, leaves)] for k, v in value.items()]}
    state = {key: _described(each, leaves) for key, each in value.items()}
    return state if kind is dict else {"_t": "map", "p": path_of(kind), "v": state}


def _leaf(kind: str, value: Any, leaves: list[Any]) -> dict[str, Any]:
    leaves.append(value)
    return {"_t": kind, "i": len(leaves) - 1}


def _constant(value: Any) -> bool | int | float | None:
    node = value.node
    kinds = {torch.SymBool: "bool", torch.SymFloat: "float"}
    ask = getattr(node, f"maybe_as_{kinds.get(type(value), 'int')}", None)
    found: bool | int | float | None = None if ask is None else ask()
    return found


def _restored(description: Any, leaves: list[Any]) -> Any:
    if description is None or type(description) in _PLAIN:
        return description
    if type(description) is list:
        return [_restored(each, leaves) for each in description]
    kind = description.get("_t")
    if kind is None:
        return {key: _restored(each, leaves) for key, each in description.items()}
    if kind == "tensor":
        return leaves[description["i"]]
    if kind == "sym":
        number = leaves[description["i"]]
        return number.item() if isinstance(number, torch.Tensor) else number
    if kind in ("dtype", "layout"):
        return getattr(torch, description["n"])
    if kind == "device":
        return torch.device(description["s"])
    if kind == "size":
        return torch.Size(description["v"])
    if kind == "items":
        return {key: _restored(each, leaves) for key, each in description["v"]}
    return _restored_object(kind, description, leaves)


def _restored_object(kind: str, description: Any, leaves: list[Any]) -> Any:
    found = class_at(description["p"])
    if kind == "type":
        return found
    if kind == "map":
        return found({key: _restored(each, leaves) for key, each in description["v"].items()})
    if kind == "seq":
        items = [_restored(each, leaves) for each in description["v"]]
        # A named tuple takes its fields one by one.
        return found(*items) if hasattr(found, "_fields") else found(items)
    if kind != "obj":
        raise TypeError(f"unknown kind '{kind}' in the description of an object")
    made = found.__new__(found)
    vars(made).update({k: _restored(each, leaves) for k, each in description["s"].items()})
    return made


def path_of(kind: type) -> str:
    """ "module:class", as descriptions have it."""
    return f"{kind.__module__}:{kind.__qualname__}"


def class_at(path: str) -> Any:
    """The class of such a path, whose module is imported."""
    module, _, names = path.partition(":")
    found: Any = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found

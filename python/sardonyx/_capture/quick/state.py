"""What a model holds besides weights: put back after a capture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .declining import DeclinedError

if TYPE_CHECKING:
    import torch

# Records of records, such as a configuration within a configuration; deeper ones are rare.
_DEEPEST = 4


@contextmanager
def unchanged(model: torch.nn.Module) -> Iterator[None]:
    """Puts back what the model changes of its attributes, and of what they hold.

    That is what torch.export does; where tensors or modules are among it, torch.export has
    more to say, and the model is declined.
    """
    from torch.nn.modules.module import register_module_buffer_registration_hook

    held = _Held()
    for module in model.modules():
        held.add_module(module)
    known = {id(module) for module in model.modules()}

    def assigned(module: torch.nn.Module, name: str, buffer: Any) -> None:
        # The same tensor once more, as `self.table = self.table.to(x.dtype)` has it, is no change.
        if id(module) in known and module._buffers.get(name) is not buffer:
            raise DeclinedError(f"{type(module).__name__} assigns its buffer {name}")

    hook = register_module_buffer_registration_hook(assigned)
    try:
        yield
    finally:
        hook.remove()
        told = held.put_back()
    if told:
        raise DeclinedError(told[0])


class _Held:
    """Containers as they were, each with its owner's class and whether it is of modules' own."""

    def __init__(self) -> None:
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any], str, bool]] = []
        self._lists: list[tuple[list[Any], list[Any], str]] = []
        self._sets: list[tuple[set[Any], set[Any]]] = []
        self._seen: set[int] = set()

    def add_module(self, module: torch.nn.Module) -> None:
        attributes, owner = vars(module), type(module).__name__
        self._seen.add(id(module))
        self._dicts.append((attributes, dict(attributes), owner, False))
        for name, value in attributes.items():
            if name in _STRUCTURE and isinstance(value, dict):
                self._dicts.append((value, dict(value), owner, True))
            else:
                self._add(value, owner, 0)

    def _add(self, value: Any, owner: str, depth: int) -> None:
        if depth > _DEEPEST or isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        inner: Any = ()
        if isinstance(value, dict):
            self._dicts.append((value, dict(value), owner, False))
            inner = list(value.values())
        elif isinstance(value, list):
            self._lists.append((value, list(value), owner))
            inner = list(value)
        elif isinstance(value, set):
            self._sets.append((value, set(value)))
        elif isinstance(value, tuple):
            inner = value
        elif not _is_opaque(value):
            inner = (vars(value),)
        for each in inner:
            self._add(each, owner, depth + 1)

    def put_back(self) -> list[str]:
        """What torch.export has more to say of."""
        told: list[str] = []
        for table, before, owner, is_of_modules in self._dicts:
            changed = _changed(table, before)
            if not changed:
                continue
            if is_of_modules:
                told.append(f"{owner} changes which modules or weights it has")
            told += _of_tensors([table.get(key) for key in changed], owner)
            table.clear()
            table.update(before)
        for values, items, owner in self._lists:
            if len(values) != len(items) or any(map(_differ, values, items)):
                told += _of_tensors(values, owner)
                values[:] = items
        for members, known in self._sets:
            if members != known:
                members.clear()
                members.update(known)
        return told


_PLAIN = (str, int, float, complex, bool, bytes, type(None), type)
_STRUCTURE = frozenset({"_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"})


def _is_opaque(value: Any) -> bool:
    """Whether it is something else than a record of plain attributes."""
    import torch

    if isinstance(value, (torch.Tensor, torch.nn.Module)) or callable(value):
        return True
    return not isinstance(getattr(value, "__dict__", None), dict)


def _changed(now: dict[Any, Any], before: dict[Any, Any]) -> list[Any]:
    if len(now) == len(before) and all(map(_is_same, now.items(), before.items())):
        return []
    names = [*now, *(name for name in before if name not in now)]
    missing = object()
    # Also where only the order differs, which is put back with the rest.
    return [n for n in names if now.get(n, missing) is not before.get(n, missing)] or names


def _is_same(now: tuple[Any, Any], before: tuple[Any, Any]) -> bool:
    return now[0] is before[0] and now[1] is before[1]


def _differ(a: Any, b: Any) -> bool:
    return a is not b


def _of_tensors(values: list[Any], owner: str) -> list[str]:
    import torch
    from torch.utils import _pytree as pytree

    if any(
        isinstance(each, (torch.Tensor, torch.nn.Module)) for each in pytree.tree_leaves(values)
    ):
        return [f"{owner} keeps a tensor in a plain attribute"]
    return []

"""What a model holds besides weights: put back after a capture."""

from __future__ import annotations

import types
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.results import dims_of
from sardonyx._capture.meta_tracer.symbolic.sizes import is_by_data, key
from sardonyx._torch_private.state import STRUCTURE, buffers_of, names_of_unsaved_buffers

from .tables import held_by, is_same_table, put_back_items

if TYPE_CHECKING:
    import torch

# Records of records, such as a configuration within a configuration; deeper ones are rare.
_DEEPEST = 4


@dataclass
class Assigned:
    """What forward() assigned.

    Attributes:
        buffers: those that are written at the end, as they were before.
        resized: those that are put back, since no program can write their new sizes: tables that
            grow with data.
        attributes: where it keeps tensors that are no part of the program.
    """

    buffers: dict[tuple[int, str], tuple[torch.Tensor, torch.nn.Module]] = field(
        default_factory=dict
    )
    resized: set[tuple[int, str]] = field(default_factory=set)
    attributes: list[str] = field(default_factory=list)

    def changes(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Each buffer that is another tensor now, and that tensor."""
        now = [
            (before, buffers_of(module)[name])
            for (_, name), (before, module) in self.buffers.items()
        ]
        return [
            (before, after) for before, after in now if after is not before and after is not None
        ]


@contextmanager
def unchanged(model: torch.nn.Module) -> Iterator[Assigned]:
    """Puts back what the model changes of its attributes, and of what they hold.

    That is what torch.export does. `attributes` names where tensors are lost by it, and
    `warn_of_attributes` warns of them. A module in place of another one is put back, too, as
    BigBird's attention of short sequences. DeclinedError of a model that changes its weights.
    """
    from torch.nn.modules.module import register_module_buffer_registration_hook

    held, found = _Held(), Assigned()
    owners = {id(module): f"self.{path}".rstrip(".") for path, module in model.named_modules()}
    for module in model.modules():
        held.add_module(module, owners[id(module)])

    def assigned(module: torch.nn.Module, name: str, buffer: Any) -> None:
        before = buffers_of(module).get(name)
        # The same tensor once more, as `self.table = self.table.to(x.dtype)` has it, is no change.
        if id(module) not in owners or before is buffer:
            return
        place = (id(module), name)
        if before is None or buffer is None or _kind(before) != _kind(buffer):
            if not _is_table_of_data(module, name, buffer):
                kind = type(module).__name__
                raise DeclinedError(f"{kind} assigns a buffer {name} of another kind")
            found.buffers.pop(place, None)
            found.resized.add(place)
            found.attributes.append(f"{owners[id(module)]}.{name}")
        elif place not in found.resized:
            found.buffers.setdefault(place, (before, module))

    hook = register_module_buffer_registration_hook(assigned)
    try:
        yield found
    finally:
        hook.remove()
        changes = held.put_back(found)
    if changes:
        raise DeclinedError(changes[0])


def warn_of_attributes(places: Collection[str]) -> None:
    """Warns of tensors that forward() keeps in these attributes, where there are any."""
    if places:
        warnings.warn(
            f"{', '.join(places)}: tensors that forward() keeps in attributes are no "
            "part of the exported model, and what was there before is put back; what has to be "
            "there in the next call has to be a buffer (register_buffer) that keeps its size",
            stacklevel=2,
        )


def _is_table_of_data(module: torch.nn.Module, name: str, buffer: Any) -> bool:
    """Whether a buffer that is no part of a checkpoint becomes a tensor of data-dependent size. As
    a table that grows where it is too short, it is made again in each call."""
    import torch

    is_kept = name not in names_of_unsaved_buffers(module)
    return not is_kept and isinstance(buffer, torch.Tensor) and is_by_data(dims_of(buffer))


def _kind(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (tuple(map(key, dims_of(tensor))), tensor.dtype)


class _Held:
    """Containers as they were, each with its place in the model and whether it is of modules'
    own."""

    def __init__(self) -> None:
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any], str, bool]] = []
        self._lists: list[tuple[list[Any], list[Any], str]] = []
        self._sets: list[tuple[set[Any], set[Any]]] = []
        self._seen: set[int] = set()

    def add_module(self, module: torch.nn.Module, owner: str) -> None:
        attributes = vars(module)
        self._seen.add(id(module))
        self._dicts.append((attributes, dict(attributes), owner, False))
        for name, value in attributes.items():
            if name in STRUCTURE and isinstance(value, dict):
                self._dicts.append((value, dict(value), owner, True))
            else:
                self._add(value, f"{owner}.{name}", 0)

    def _add(self, value: Any, owner: str, depth: int) -> None:
        if depth > _DEEPEST or isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        inner: Any = ()
        if isinstance(value, dict):
            held = held_by(value)
            self._dicts.append((value, held, owner, False))
            inner = list(held.values())
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

    def put_back(self, found: Assigned) -> list[str]:
        """Adds the places of tensors to what was found; returns what is to be declined."""
        changes: list[str] = []
        for table, before, owner, is_of_modules in self._dicts:
            changed = _changed(table, before)
            if not changed:
                continue
            if is_of_modules:
                assigned = {name for _, name in (*found.buffers, *found.resized)}
                if not all(name in assigned or _is_module(table.get(name)) for name in changed):
                    changes.append(f"{owner} changes which modules or weights it has")
            else:
                for name in changed:
                    found.attributes += _of_tensors(table.get(name), f"{owner}.{name}")
            put_back_items(table, before)
        for values, items, owner in self._lists:
            if len(values) != len(items) or any(map(_differ, values, items)):
                found.attributes += _of_tensors(values, owner)
                values[:] = items
        for members, known in self._sets:
            if members != known:
                members.clear()
                members.update(known)
        return changes


def _is_module(value: Any) -> bool:
    import torch

    return isinstance(value, torch.nn.Module)


_PLAIN = (str, int, float, complex, bool, bytes, type(None), type)


def _is_opaque(value: Any) -> bool:
    """Whether it is something else than a record of plain attributes."""
    import torch

    if isinstance(value, (torch.Tensor, torch.nn.Module, types.ModuleType)) or callable(value):
        return True
    return not isinstance(getattr(value, "__dict__", None), dict)


def _changed(table: dict[Any, Any], before: dict[Any, Any]) -> list[Any]:
    if is_same_table(table, before):
        return []
    now = held_by(table)
    names = [*now, *(name for name in before if name not in now)]
    missing = object()
    # Also where only the order differs, which is put back with the rest.
    return [n for n in names if now.get(n, missing) is not before.get(n, missing)] or names


def _differ(a: Any, b: Any) -> bool:
    return a is not b


def _of_tensors(value: Any, place: str) -> list[str]:
    """The place, where a tensor is in what stands there. Declines modules."""
    import torch

    from sardonyx._torch_private import pytree

    leaves = pytree.tree_leaves(value)
    if any(isinstance(each, torch.nn.Module) for each in leaves):
        raise DeclinedError(f"{place} changes which modules it holds")
    return [place] if any(isinstance(each, torch.Tensor) for each in leaves) else []

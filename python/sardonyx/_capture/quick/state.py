"""What a model holds besides weights: put back after a capture, which declines what changed it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .declining import DeclinedError

if TYPE_CHECKING:
    import torch

_TABLES = ("_parameters", "_buffers", "_modules")


@contextmanager
def unchanged(model: torch.nn.Module) -> Iterator[None]:
    """Declines models that change their attributes, or what lists and dicts among them hold."""
    from torch.nn.modules.module import register_module_buffer_registration_hook

    held = [_Held(module) for module in model.modules()]
    known = {id(each.module) for each in held}

    def assigned(module: torch.nn.Module, name: str, _buffer: Any) -> None:
        # Also of the same tensor once more, which torch.export takes for a change.
        if id(module) in known:
            raise DeclinedError(f"{type(module).__name__} assigns its buffer {name}")

    hook = register_module_buffer_registration_hook(assigned)
    try:
        yield
    finally:
        hook.remove()
        changed = [each for each in held if each.put_back()]
    if changed:
        raise DeclinedError(f"{type(changed[0].module).__name__} changes its own attributes")


class _Held:
    """The attributes of one module as they were."""

    def __init__(self, module: torch.nn.Module) -> None:
        self.module = module
        self._attributes = dict(vars(module))
        self._lists = [(v, list(v)) for v in self._attributes.values() if type(v) is list]
        self._dicts = [
            (value, dict(value))
            for name, value in self._attributes.items()
            if type(value) is dict or name in _TABLES
        ]

    def put_back(self) -> bool:
        """Whether anything had changed."""
        now = vars(self.module)
        differs = not _is_same(now, self._attributes)
        if differs:
            now.clear()
            now.update(self._attributes)
        for values, before in self._lists:
            if len(values) != len(before) or any(
                a is not b for a, b in zip(values, before, strict=True)
            ):
                values[:] = before
                differs = True
        for table, entries in self._dicts:
            if not _is_same(table, entries):
                table.clear()
                table.update(entries)
                differs = True
        return differs


def _is_same(now: dict[str, Any], before: dict[str, Any]) -> bool:
    return now.keys() == before.keys() and all(now[key] is value for key, value in before.items())

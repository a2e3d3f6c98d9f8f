"""Which modules are to become model-local functions."""

from __future__ import annotations

from typing import Any

from sardonyx._base.errors import usage_error


def class_names(asked: Any) -> list[str] | None:
    """The names that a capture has for `export_modules_as_functions`: None for no modules, an empty
    list for all of them, else the classes."""
    if asked is True:
        return []
    if asked is False or asked is None:
        return None
    try:
        classes = list(asked)
    except TypeError:
        classes = [None]
    for each in classes:
        if not isinstance(each, type):
            raise usage_error(
                "export_modules_as_functions is neither a bool nor a set of module classes",
                "pass True, or a set such as {torch.nn.LayerNorm}",
            )
    return sorted(f"{each.__module__}.{each.__qualname__}" for each in classes) or None

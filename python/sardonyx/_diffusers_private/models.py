"""Models of diffusers, by the names of their classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def class_named(name: str) -> type[Any] | None:
    """The class of that name; None where the installed release has none, or none that runs."""
    import diffusers

    found = getattr(diffusers, name, None)
    return found if isinstance(found, type) and hasattr(found, "forward") else None


def release() -> str:
    """The installed release, for messages."""
    import diffusers

    return str(diffusers.__version__)


def built(model_class: type[Any], folder: Path) -> Any:
    """The model that the configuration in the folder describes, with what weights it is made of."""
    made: Any = model_class
    return made.from_config(made.load_config(folder))

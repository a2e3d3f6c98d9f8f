"""Settings of configurations, wherever in them they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_PARTS = (
    "text_config",
    "vision_config",
    "audio_config",
    "encoder",
    "encoder_config",
    "backbone_config",
    "decoder",
)


def parts(config: Any) -> Iterator[Any]:
    """The configuration, then those of its parts."""
    yield config
    for name in _PARTS:
        inner = getattr(config, name, None)
        if hasattr(inner, "to_dict"):
            yield inner


def setting(config: Any, *names: str, default: Any = None) -> Any:
    """The first of `names` that the configuration or one of its parts has."""
    for name in names:
        for part in parts(config):
            value = getattr(part, name, None)
            if value is not None:
                return value
    return default


def all_settings(config: Any, *names: str) -> Iterator[Any]:
    """What the configuration, its parts and theirs have for each of `names`, each value once."""
    found = (getattr(part, name, None) for name in names for part in _all_parts(config))
    yield from dict.fromkeys(value for value in found if value is not None)


def _all_parts(config: Any) -> Iterator[Any]:
    yield config
    for inner in vars(config).values():
        if hasattr(inner, "to_dict"):
            yield from _all_parts(inner)

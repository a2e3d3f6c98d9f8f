"""Conversions of checkpoints: which tensors of a file make which weight of a model."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from .probing import Probe, has, lookup

CONVERSIONS = Probe(
    "weights under the names of older releases, and weights made of several tensors",
    has("conversion_mapping", "get_model_conversion_mapping"),
    has(
        "core_model_loading",
        "WeightRenaming",
        "WeightConverter.source_patterns",
        "dot_natural_key",
        "rename_source_key",
    ),
)


class Conversions:
    """transformers' own rules, by default those of a model's own checkpoints. Without the feature a
    weight has its name in the checkpoint, and is made of one tensor."""

    def __init__(self, model: Any, transforms: Iterable[Any] | None = None) -> None:
        self._prefix = getattr(model, "base_model_prefix", "") or None
        self._renamings: list[Any] = []
        self._converters: list[Any] = []
        if not CONVERSIONS.available:
            return
        if transforms is None:
            transforms = lookup("conversion_mapping", "get_model_conversion_mapping")(model)
        loading = lookup("core_model_loading")
        transforms = list(transforms)
        self._renamings = [t for t in transforms if isinstance(t, loading.WeightRenaming)]
        self._converters = [t for t in transforms if isinstance(t, loading.WeightConverter)]

    @staticmethod
    def order(name: str) -> Any:
        """By which tensors are sorted, as they are loaded: layers by number."""
        return (
            lookup("core_model_loading", "dot_natural_key")(name) if CONVERSIONS.available else name
        )

    def renamed(self, name: str, known: Mapping[str, Any]) -> tuple[str, Any]:
        """The model's name of a tensor of the checkpoint, and the pattern of the conversion that it
        is a source of; None where it is the weight."""
        if not CONVERSIONS.available:
            return name, None
        rename = lookup("core_model_loading", "rename_source_key")
        found: tuple[str, Any] = rename(
            name, self._renamings, self._converters, self._prefix, known
        )
        return found

    def converter(self, pattern: Any) -> Any:
        """A conversion of its own for a weight, that of this pattern."""
        return copy.deepcopy(
            next(c for c in reversed(self._converters) if pattern in c.source_patterns)
        )

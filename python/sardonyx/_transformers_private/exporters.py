"""The exporters that transformers has since 5.13, and its registry of further ones.

The package `transformers.exporters` is public and experimental: what Sardonyx needs of it is looked
up here.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

from .probing import Probe, has, lookup

BACKENDS = Probe(
    "exporters of transformers",
    has("exporters", "ExportedModel", "ExportMetadata", "HfExporter", "ModelRunner", "OnnxConfig"),
    has("exporters", "register_backend", "HfExporter.export_program", "ModelRunner.from_program"),
)

GENERATION = Probe(
    "one graph for prefill and decode",
    has("exporters.utils", "decompose_prefill_decode", "is_multimodal"),
)


def exporter_class(name: str) -> Any:
    """HfExporter, ModelRunner, OnnxConfig, ExportMetadata."""
    return lookup("exporters", name)


def register_backend(exporter: type, runner: type) -> None:
    """Registers an exporter under its `export_format`, once."""
    known = lookup("exporters.auto", "EXPORT_BACKENDS")
    if getattr(exporter, "export_format", None) not in known:
        lookup("exporters", "register_backend")(exporter, runner)


def metadata_of(model: Any, **values: Any) -> Any:
    """An ExportMetadata with those of the values that the installed release has a field for."""
    kind = exporter_class("ExportMetadata")
    fields = {field.name for field in dataclasses.fields(kind)}
    known = {"architecture": type(model).__name__, **values}
    return kind(**{name: value for name, value in known.items() if name in fields})


def runs_of_generation(model: Any, inputs: Any, generation_config: Any) -> dict[str, Any]:
    """The arguments of forward() in the first run of generate(), "prefill", and in those of two
    tokens that follow, joined into one run, "decode"."""
    decompose = lookup("exporters.utils", "decompose_prefill_decode")
    parts = decompose(
        model, copy.deepcopy(dict(inputs)), generation_config, multi_token_decode=True
    )
    return {name: given for name, (_, given) in parts.items()}


def is_multimodal(model: Any) -> bool:
    """Whether the model is exported as encoders and a language model."""
    return bool(lookup("exporters.utils", "is_multimodal")(model))

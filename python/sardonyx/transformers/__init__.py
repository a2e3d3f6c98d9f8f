"""Sardonyx as a backend of transformers' own exporters.

    from sardonyx.transformers import SardonyxConfig, SardonyxExporter

    exported = SardonyxExporter().export(model, inputs, SardonyxConfig(dynamic=True))
    exported(**inputs)                   # in ONNX Runtime; returns what the model returns
    exported.save_pretrained("folder")   # ExportedModel.from_pretrained("folder") reads it

Importing the module registers the backend, as export format "sardonyx". It needs a release of
transformers that has `transformers.exporters`: 5.13 or newer. docs/how-to/transformers-exporters.md
walks through it.
"""

from __future__ import annotations

from .config import SardonyxConfig
from .exporter import SardonyxExporter
from .runner import SardonyxRunner

__all__ = ["SardonyxConfig", "SardonyxExporter", "SardonyxRunner"]

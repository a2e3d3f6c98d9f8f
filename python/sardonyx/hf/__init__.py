"""From a Hugging Face checkpoint to ONNX models that run.

    sardonyx.hf.export("folder/of/checkpoint", "out")
    model = sardonyx.hf.load("out")
    model.generate(input_ids, max_new_tokens=20)

Needs the package transformers, 5.2 or newer; docs/huggingface.md walks through it.
"""

from __future__ import annotations

from .export import export
from .report import ExportedPart, Report
from .running import Loaded, load

__all__ = ["ExportedPart", "Loaded", "Report", "export", "load"]

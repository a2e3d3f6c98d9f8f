"""From a Hugging Face checkpoint to ONNX models that run.

    sardonyx.hf.export("folder/of/checkpoint", "out")
    model = sardonyx.hf.load("out")
    model.generate(input_ids, max_new_tokens=20)

Needs the package transformers, 5.2 or newer; docs/huggingface.md walks through it.
"""

from __future__ import annotations

from sardonyx._base.packages import needing_torch

from .output.report import ExportedPart, Report

try:
    from .conversion.export import export
    from .evaluation.running import ExportedFolder, load
except ModuleNotFoundError as error:
    __getattr__ = needing_torch(__name__, error)

__all__ = ["ExportedFolder", "ExportedPart", "Report", "export", "load"]

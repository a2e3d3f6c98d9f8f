"""Errors of values as node data that Model Explorer shows on a model's graph."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnx_ir

    from sardonyx._compare.differences import VerificationInfo

# From no error to the largest.
_GRADIENT = [
    {"stop": 0, "bgColor": "#e8f5e9"},
    {"stop": 0.5, "bgColor": "#fff59d"},
    {"stop": 1, "bgColor": "#ef5350"},
]
_LARGEST = 1.7976931348623157e308  # JSON has no infinity


def save_node_data_from_verification_info(
    verification_infos: Iterable[VerificationInfo],
    onnx_model: onnx_ir.Model,
    directory: str | os.PathLike[str] = "",
    model_name: str = "model",
) -> list[Path]:
    """Writes `<model_name>_max_abs_diff.json` and `..._max_rel_diff.json` into `directory`.

    They hold the error of each value, by the value's name, for Model Explorer to show beside the
    model of that name. Values that the model has not are left out. Returns the files' paths.
    """
    graph = onnx_model.graph
    known = {value.name for node in graph for value in node.outputs}
    infos = [info for info in verification_infos if info.name in known]
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for metric in ("max_abs_diff", "max_rel_diff"):
        results = {info.name: {"value": _number(getattr(info, metric))} for info in infos}
        data: dict[str, Any] = {
            graph.name or "main_graph": {"results": results, "gradient": _GRADIENT}
        }
        path = folder / f"{model_name}_{metric}.json"
        path.write_text(json.dumps(data, indent=2), encoding="utf-8")
        written.append(path)
    return written


def _number(value: float) -> float:
    return value if math.isfinite(value) else _LARGEST

"""The onnx package's node models with their inputs and expected outputs."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

OLDEST_OPSET = 7
CACHE = Path(__file__).parents[2] / ".cache" / "node-models"


@dataclass(frozen=True)
class Case:
    name: str
    data: bytes  # of the model
    opset: int
    feeds: dict[str, Any]
    expected: list[Any]
    rtol: float
    atol: float

    @property
    def model(self) -> onnx.ModelProto:
        return onnx.load_from_string(self.data)


def as_array(value: Any) -> Any:
    """As feeds take it: scalars, and tensors of types that numpy lacks, are none yet."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def load_cases() -> list[Case]:
    """All models with data; making them takes most of a minute, so they are cached by release."""
    path = CACHE / f"{onnx.__version__}.pickle"
    if path.is_file():
        cases: list[Case] = pickle.loads(path.read_bytes())
        return cases
    from onnx.backend.test.loader import load_node_model_tests

    cases = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflow in the package's own references
        for made in load_node_model_tests():
            model = made.model
            if model is None or not made.data_sets:
                continue
            opset = next((o.version for o in model.opset_import if not o.domain), 0)
            if opset < OLDEST_OPSET:
                continue
            inputs, outputs = made.data_sets[0]
            feeds = {v.name: as_array(x) for v, x in zip(model.graph.input, inputs, strict=False)}
            data = model.SerializeToString()
            cases.append(
                Case(
                    made.name,
                    data,
                    opset,
                    feeds,
                    [as_array(x) for x in outputs],
                    made.rtol,
                    made.atol,
                )
            )
    CACHE.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(cases))
    return cases

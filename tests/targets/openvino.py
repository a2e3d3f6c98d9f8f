"""Models in OpenVINO, on the CPU and in the precision that they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import openvino as ov
import torch
from onnx import helper

from tests.harness import exporting

from .alone import OPSET, model_of

# bfloat16, where the CPU has it, would be another answer.
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}


class Session:
    """A loaded model, fed and read by position: what tests.harness.runtime.Session is."""

    def __init__(self, model: bytes) -> None:
        core = ov.Core()
        self._model = core.compile_model(core.read_model(model), "CPU", CONFIG)
        self.outputs = [output.get_any_name() for output in self._model.outputs]

    def run(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [torch.from_numpy(array) for array in self.run_arrays([x.numpy() for x in inputs])]

    def run_arrays(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        results = self._model(list(inputs))
        return [np.array(results[output]) for output in self._model.outputs]


class Exported(exporting.Exported):
    """A program that answers in OpenVINO."""

    @staticmethod
    def of(program: Any) -> Exported:
        proto = program.model_proto
        session: Any = Session(proto.SerializeToString())
        return Exported(program, program.exported_program, proto, session)


def run(
    op: str, *inputs: np.ndarray, dtype: int | None = None, opset: int = OPSET, **attributes: Any
) -> np.ndarray:
    """The first output of one operator, of `dtype` (by default that of the first input)."""
    feed = {f"x{i}": array for i, array in enumerate(inputs)}
    node = helper.make_node(op, list(feed), ["y"], **attributes)
    result = dtype or helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    return Session(model_of([node], feed, {"y": result}, opset)).run_arrays(inputs)[0]

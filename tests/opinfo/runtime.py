"""Runs a model in ONNX Runtime and tells its refusals from disagreements with the program."""

from __future__ import annotations

import onnxruntime as ort
import torch

from tests.harness import runtime

ort.set_default_logger_severity(4)


class RuntimeRefused(Exception):
    """ONNX Runtime would not load or run the model."""


class InterfaceMismatch(Exception):
    """The model's inputs, outputs or declared sizes are not those of the program."""


class Session:
    def __init__(self, model: bytes) -> None:
        try:
            self._session = runtime.Session(model)
        except Exception as error:
            raise RuntimeRefused(f"load: {_headline(error)}") from error

    def run(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        try:
            return self._session.run(inputs)
        except AssertionError as error:
            raise InterfaceMismatch(_headline(error)) from error
        except Exception as error:
            raise RuntimeRefused(f"run: {_headline(error)}") from error


def _headline(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:400] if lines else type(error).__name__

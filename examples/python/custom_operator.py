"""An operator of one's own, with a kernel of one's own: custom_operator.py out.onnx

PyTorch knows the operator by torch.library, Sardonyx by a translator, and ONNX Runtime by a kernel,
here one of onnxruntime-extensions in Python. A compiled kernel comes in the same way: by
SessionOptions.register_custom_ops_library("libkernels.so").
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import onnxruntime as ort
import torch
from onnxruntime_extensions import PyOp, get_library_path, onnx_op
from torch import nn

import sardonyx
from sardonyx import op

DOMAIN = "ai.onnx.contrib"  # where onnxruntime-extensions looks for kernels in Python


@torch.library.custom_op("shop::count_above", mutates_args=())
def count_above(x: torch.Tensor, limits: torch.Tensor) -> torch.Tensor:
    """(rows, n) and (k,) to (rows, k) of int64: how many of a row are above each limit."""
    return (x[:, :, None] > limits).sum(1)


@count_above.register_fake
def _(x: torch.Tensor, limits: torch.Tensor) -> torch.Tensor:
    return x.new_empty((x.shape[0], limits.shape[0]), dtype=torch.int64)


def translate(x: Any, limits: Any) -> Any:
    """The call as one node, of the type and shape that PyTorch says."""
    return op.domain(DOMAIN, 1).CountAbove(x, limits)


@onnx_op(op_type="CountAbove", inputs=[PyOp.dt_float, PyOp.dt_float], outputs=[PyOp.dt_int64])
def kernel(x: Any, limits: Any) -> Any:
    """What ONNX Runtime calls for the node."""
    return np.sum(np.asarray(x)[:, :, None] > np.asarray(limits), axis=1).astype(np.int64)


class Model(nn.Module):
    """(rows, 4) to (rows, 2): how many features of a row are above -0.5 and 0.5."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Linear(4, 8)
        self.limits = nn.Buffer(torch.tensor([-0.5, 0.5]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Counts of int64."""
        return count_above(self.features(x).tanh(), self.limits)


def session(path: str) -> ort.InferenceSession:
    """One that knows the kernel."""
    options = ort.SessionOptions()
    options.register_custom_ops_library(get_library_path())
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main(path: str) -> tuple[Model, ort.InferenceSession]:
    """The model, and the session that runs what it became."""
    torch.manual_seed(0)
    model = Model().eval()
    sardonyx.export(
        model,
        (torch.randn(2, 4),),
        path,
        dynamic_shapes=({0: "rows"},),
        custom_translation_table={count_above: translate},
    )
    return model, session(path)


if __name__ == "__main__":
    exported, running = main(sys.argv[1])
    rows = torch.randn(5, 4)
    print("PyTorch:     ", exported(rows).tolist())
    print("ONNX Runtime:", running.run(None, {"x": rows.numpy()})[0].tolist())

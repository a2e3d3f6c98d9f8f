"""Functions that keep sizes variable while a model is traced, as torch.onnx.operators has them."""

from __future__ import annotations

from ._capture.shapes.shape_tensors import reshape_from_tensor_shape, shape_as_tensor

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]

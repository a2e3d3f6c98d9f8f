"""The words that options of an export take, as types."""

from __future__ import annotations

from typing import Literal

# As the native library lists its targets.
Runtime = Literal[
    "onnxruntime",
    "onnxruntime-cpu",
    "onnxruntime-avx2",
    "onnxruntime-genai",
    "onnxruntime-cuda",
    "onnxruntime-genai-cuda",
    "onnxruntime-genai-webgpu",
    "onnxruntime-genai-dml",
    "webgpu",
    "openvino",
    "tensorrt",
    "standard",
]
CaptureStrategy = Literal["auto", "quick", "torch", "trace"]

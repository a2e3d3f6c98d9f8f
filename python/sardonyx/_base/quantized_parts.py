"""What a model has for a quantized tensor of PyTorch: three plain ones."""

from __future__ import annotations

from typing import Any


def with_parts(leaves: list[Any], *, wide: bool = False) -> list[Any]:
    """The leaves, quantized tensors as their integers, scale (float32) and zero point (of the
    integers' dtype); float64 and int64 where `wide`, as the older exporter's inputs are."""
    return [part for leaf in leaves for part in _parts(leaf, wide)]


def _parts(leaf: Any, wide: bool) -> list[Any]:
    if getattr(leaf, "is_quantized", False) is not True or not hasattr(leaf, "q_scale"):
        return [leaf]
    import torch

    integers = leaf.int_repr()
    scale = torch.tensor(leaf.q_scale(), dtype=torch.float64 if wide else torch.float32)
    zero_point = leaf.q_zero_point()
    return [
        integers,
        scale,
        torch.tensor(zero_point, dtype=torch.int64 if wide else integers.dtype),
    ]

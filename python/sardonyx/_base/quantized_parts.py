"""What a model has for a quantised tensor of PyTorch: three plain ones."""

from __future__ import annotations

from typing import Any


def with_parts(leaves: list[Any]) -> list[Any]:
    """The leaves, quantised tensors as their integers, scale (float32) and zero point."""
    return [part for leaf in leaves for part in _parts(leaf)]


def _parts(leaf: Any) -> list[Any]:
    if getattr(leaf, "is_quantized", False) is not True or not hasattr(leaf, "q_scale"):
        return [leaf]
    import torch

    integers = leaf.int_repr()
    scale = torch.tensor(leaf.q_scale(), dtype=torch.float32)
    return [integers, scale, torch.tensor(leaf.q_zero_point(), dtype=integers.dtype)]

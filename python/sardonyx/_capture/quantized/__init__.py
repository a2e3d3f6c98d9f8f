"""Models of PyTorch's own quantized tensors, which torch.export cannot hold: while such a model is
captured, integers beside their scale and zero point stand for each of them."""

from .capture import (
    holds_quantized_tensors,
    makes_quantized,
    plain_integers,
    speaks_of_quantized_tensors,
)

__all__ = [
    "holds_quantized_tensors",
    "makes_quantized",
    "plain_integers",
    "speaks_of_quantized_tensors",
]

"""Weights that PyTorch packs for its kernels, unpacked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from sardonyx._torch_private import torchscript

from .rules import UnsupportedError
from .tensor import Quantized


@dataclass(frozen=True)
class Packed:
    """What an object of packed weights holds: the weight, quantized or, of dynamic float16 layers,
    not; and the options of a convolution."""

    weight: Any
    bias: torch.Tensor | None = None
    # stride, padding, dilation and output padding
    geometry: tuple[tuple[int, ...], ...] = ()
    groups: int = 1
    transposed: bool = False

    def values(self) -> torch.Tensor:
        """The weight in float32."""
        weight: torch.Tensor = self.weight
        return self.weight.dequantized() if isinstance(self.weight, Quantized) else weight


def is_packed(held: Any) -> bool:
    """Whether an attribute holds packed weights."""
    return isinstance(held, torch.ScriptObject) and _kind(held).endswith("ParamsBase")


def unpacked(held: Any) -> Packed:
    """The content of packed weights; UnsupportedError of a kind that is not known."""
    read = _READERS.get(_kind(held))
    if read is None:
        raise UnsupportedError(f"packed weights of the kind {_kind(held)} are not supported")
    return read(held)


def _kind(held: Any) -> str:
    return torchscript.class_name(held).rpartition(".")[2]


def _linear(held: Any) -> Packed:
    weight, bias = held.unpack()
    return Packed(_plain(weight), _detached(bias))


def _convolution(held: Any) -> Packed:
    weight, bias = held.unpack()
    geometry = (held.stride(), held.padding(), held.dilation(), held.output_padding())
    return Packed(
        _plain(weight),
        _detached(bias),
        tuple(map(tuple, geometry)),
        held.groups(),
        bool(held.transpose()),
    )


def _embedding(held: Any) -> Packed:
    weight = torch.ops.quantized.embedding_bag_unpack(held)
    if weight.dtype not in (torch.quint8, torch.qint8):
        raise UnsupportedError(f"embeddings packed as {weight.dtype} are not supported")
    return Packed(_plain(weight))


_READERS = {
    "LinearPackedParamsBase": _linear,
    "Conv2dPackedParamsBase": _convolution,
    "Conv3dPackedParamsBase": _convolution,
    "EmbeddingPackedParamsBase": _embedding,
}


def _plain(weight: torch.Tensor) -> Any:
    return Quantized.of(weight) if weight.is_quantized else weight.detach().float()


def _detached(bias: torch.Tensor | None) -> torch.Tensor | None:
    return None if bias is None else bias.detach()

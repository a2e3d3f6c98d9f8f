"""ONNX operators as PyTorch operators, to be called in a model.

`symbolic` and `symbolic_multi_out` put any operator of any domain into the exported model;
`rotary_embedding`, `attention` and `linear_attention` also compute in eager PyTorch what ONNX
says they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sardonyx._base.packages import needing_torch

try:
    from ._attention import attention
    from ._linear_attention import linear_attention
    from ._operator import COMPUTED
    from ._rotary_embedding import rotary_embedding
    from ._symbolic import symbolic, symbolic_multi_out
except ModuleNotFoundError as error:
    __getattr__ = needing_torch(__name__, error)

__all__ = [
    "aten_decompositions",
    "attention",
    "linear_attention",
    "rotary_embedding",
    "symbolic",
    "symbolic_multi_out",
]


def aten_decompositions() -> dict[Any, Callable[..., Any]]:
    """The table that ExportedProgram.run_decompositions() takes the operators of this module apart
    by, PyTorch's own `torch.ops.onnx.*` among them. `linear_attention` stays whole."""
    import torch

    table: dict[Any, Callable[..., Any]] = {}
    for space in ("sardonyx", "onnx"):
        for name, compute in COMPUTED.items():
            packet = getattr(getattr(torch.ops, space), name, None)
            if packet is not None and "opset23" in packet.overloads():
                table[packet.opset23] = compute
    return table

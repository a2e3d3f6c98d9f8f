"""One name for a function of torch, its operator and each of that one's overloads."""

from __future__ import annotations

from typing import Any

import torch


def name_of(function: Any) -> str:
    """The name "relu" of torch.relu, torch.Tensor.relu and torch.ops.aten.relu.default;
    "quantized::linear" of torch.ops.quantized.linear."""
    if isinstance(function, torch._ops.OpOverload):
        function = function.overloadpacket
    if isinstance(function, torch._ops.OpOverloadPacket):
        return str(function._qualified_op_name).removeprefix("aten::")
    return str(getattr(function, "__name__", function))

"""One name for a function of torch, its operator and each of that one's overloads."""

from __future__ import annotations

from typing import Any

from sardonyx._torch_private import operators


def name_of(function: Any) -> str:
    """The name "relu" of torch.relu, torch.Tensor.relu and torch.ops.aten.relu.default;
    "quantized::linear" of torch.ops.quantized.linear."""
    if operators.is_overload(function):
        function = function.overloadpacket
    if operators.is_packet(function):
        return operators.packet_name(function).removeprefix("aten::")
    return str(getattr(function, "__name__", function))

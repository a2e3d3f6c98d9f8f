"""How a model is quantized."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from sardonyx import _native

Scheme = Literal["w8a8", "w8a16", "fp8"]
Method = Literal["minmax", "percentile", "mse", "entropy"]
SCHEMES: tuple[str, ...] = get_args(Scheme)
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True)
class Quantization:
    """The options of `sardonyx.quantize` and `sardonyx.calibrate`, of one record each."""

    scheme: str = ""  # the target's first
    runtime: str = "onnxruntime-cpu"
    method: str = "mse"
    percentile: float = 99.99
    per_channel: bool = True
    correct_bias: bool = True
    round_adaptively: bool = True
    keep: tuple[str, ...] = ()
    mixed: Mapping[str, str] = field(default_factory=dict)
    batch: int = 1

    def native(self, keep: Iterable[str] = ()) -> _native.QuantizationOptions:
        """The native options, with further patterns to keep. Raises SX1830 and SX1810."""
        return _native.quantization_options(
            self.runtime,
            self.scheme,
            self.method,
            self.percentile,
            self.per_channel,
            self.correct_bias,
            [*self.keep, *keep],
            list(self.mixed.items()),
        )


def exactly(name: str) -> str:
    """The pattern of the node of this name alone."""
    return f"^{re.escape(name)}$"

"""How a model is quantized."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from sardonyx import _native
from sardonyx._base.errors import usage_error

Scheme = Literal["w8a8", "w8a16", "fp8", "w4a16"]
Method = Literal["minmax", "percentile", "mse", "entropy"]
# Whether a step that may help or not is taken: where it is measured to help.
When = Literal["auto", "always", "never"]
# Of weights alone: the activations stay in floating point.
WEIGHT_ONLY = "w4a16"
SCHEMES: tuple[str, ...] = get_args(Scheme)
METHODS: tuple[str, ...] = get_args(Method)
WHEN: tuple[str, ...] = get_args(When)


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
    rounding_seconds: float = math.inf
    keep: tuple[str, ...] = ()
    mixed: Mapping[str, str] = field(default_factory=dict, hash=False)
    batch: int = 1
    memory: int | None = None  # bytes of values that are observed at once
    force: bool = False
    equalize: str = "auto"
    smooth: str = "auto"

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise usage_error(f"a batch has one sample at least, not {self.batch}")
        if self.memory is not None and self.memory < 1:
            raise usage_error(f"memory is a number of bytes above 0, not {self.memory}")
        for name, value in (("equalize", self.equalize), ("smooth", self.smooth)):
            if value not in WHEN:
                raise usage_error(f"{name} is {', '.join(WHEN[:-1])} or {WHEN[-1]}, not {value!r}")

    @property
    def takes_rows(self) -> bool:
        """Whether samples of what products take are kept."""
        return self.round_adaptively or {self.equalize, self.smooth} != {"never"}

    def native(
        self, keep: Iterable[str] = (), mixed: Iterable[tuple[str, str]] = ()
    ) -> _native.QuantizationOptions:
        """The native options, with further patterns to keep or mix. Raises SX1830 and SX1810."""
        return _native.quantization_options(
            self.runtime,
            self.scheme,
            self.method,
            self.percentile,
            self.per_channel,
            self.correct_bias,
            self.rounding_seconds,
            [*self.keep, *keep],
            [*self.mixed.items(), *mixed],
        )

    def oldest_opset(self, *, may_raise: bool) -> int:
        """The oldest opset with all types; also of more bits where layers may get these."""
        options = self.native()
        if may_raise and options.more_bits:
            options = self.native(mixed=[(".", options.more_bits)])
        return options.opset


def exactly(name: str) -> str:
    """The pattern of the node of this name alone."""
    return f"^{re.escape(name)}$"

"""What numbers of a model are held in, and what that changes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from sardonyx import _native

if TYPE_CHECKING:
    import torch

To = Literal["fp16", "bf16", "int8", "int4", "fp16+int8", "fp16+int4"]
PRECISIONS: tuple[str, ...] = get_args(To)


@dataclass(frozen=True)
class Precision:
    """Half precision or quantization. `precision="int4"` is short for `Precision("int4")`.

    Attributes:
        to: "fp16" or "bf16": the graph computes in it, except operators that need float32. "int8"
            or "int4": block-wise quantized weights of MatMul, Gemm and embeddings. "fp16+int8" or
            "fp16+int4": both.
        keep: operator types, or regular expressions of names of nodes, their outputs or weights:
            what they match stays as it is.
        mixed: for "int8" and "int4": such expressions with "int8", "int4" or "keep" for the weights
            that they match; the first match counts. A weight that can't be quantized so is an
            error.
        io: for "fp16" and "bf16": whether inputs and outputs of the model change their dtype, too.
        block_size: weights that share a scale: 16, 32, 64, 128 or 256.
        symmetric: False adds a zero point to each block.
        method: "search" minimizes the squared error of each block, "rtn" rounds to nearest.
        accuracy_level: of MatMulNBits: 4 rounds activations to 8 bits in blocks, 0 does not; by
            default 4 for `runtime="onnxruntime-cpu"`.
    """

    to: To
    keep: Iterable[str] = ()
    mixed: Mapping[str, Literal["int8", "int4", "keep"]] = field(default_factory=dict)
    io: bool = False
    block_size: int = 32
    symmetric: bool = True
    method: Literal["search", "rtn"] = "search"
    accuracy_level: int | None = None


def native_precision(precision: Precision | To | None) -> _native.PrecisionOptions:
    options = _native.PrecisionOptions()
    if precision is None:
        return options
    if isinstance(precision, str):
        options.to = precision
        return options
    options.to = precision.to
    options.keep = [precision.keep] if isinstance(precision.keep, str) else list(precision.keep)
    options.io = precision.io
    options.block_size = precision.block_size
    options.symmetric = precision.symmetric
    options.method = precision.method
    options.accuracy_level = precision.accuracy_level
    for pattern, to in precision.mixed.items():
        options.mix(pattern, to)
    return options


class HeldWeight:
    """A weight that is stored in another type than before."""

    def __init__(self, native: _native.WeightPrecision) -> None:
        self._native = native

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def type(self) -> str:
        """ "float16", "int4", ..."""
        return self._native.type

    @property
    def bytes_before(self) -> int:
        return self._native.bytes_before

    @property
    def bytes(self) -> int:
        """What it takes now, scales and zero points included."""
        return self._native.bytes

    @property
    def relative_error(self) -> float:
        """Root mean square of the differences, as a part of the weights'."""
        return self._native.error()[0]

    @property
    def largest_error(self) -> float:
        """The largest difference."""
        return self._native.error()[1]

    @property
    def made_of(self) -> list[str]:
        """The model's weights that a block-wise quantized weight joins, in order."""
        return self._native.made_of

    @property
    def is_table(self) -> bool:
        """Whether a block-wise quantized weight is an embedding, whose rows are looked up."""
        return self._native.is_table

    def values(self) -> torch.Tensor | None:
        """The dequantized weight, float32 [rows, columns], computed anew: each row is
        what shares scales. None for other weights, and if the model has no data."""
        import torch

        held = self._native.values()
        if not held:
            return None
        return torch.frombuffer(bytearray(held), dtype=torch.float32).view(self._native.shape)

    def __repr__(self) -> str:
        return (
            f"{self.name}: {self.type}, {self.bytes} bytes for {self.bytes_before}, "
            f"relative error {self.relative_error:.2g}"
        )

"""The model in ONNX Runtime, in float and quantized, from files in a folder of its own."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sardonyx import _native
from sardonyx._base.errors import OnnxExporterError, refusal
from sardonyx._base.packages import package
from sardonyx._optimize.optimize import source_of
from sardonyx._runtime.session import open_session

from .data import Feed, Input

# The runtime that models run in while they are calibrated, whatever their target is: its standard
# operators, which no rule of quantization has to know more of.
_RUNTIME = "onnxruntime"
# Types of outputs whose errors are measured.
_MEASURED = frozenset({"float16", "float32", "float64"})
# Weights and values of a sample, in bytes: of less, threads take longer to wake than to compute.
_SMALL = 4 << 20


class FloatModel:
    """The optimized model in float, as a file."""

    def __init__(
        self, model: Any, oldest_opset: int, folder: Path, *, dequantize: bool = False
    ) -> None:
        self.folder = folder
        self.path = folder / "float.onnx"
        native = copy_of(model, folder)
        if dequantize:
            _native.remove_quantization(native)
        opset = max(native.opsets.get("", 0), oldest_opset)
        optimized(native, _RUNTIME, _native.PrecisionOptions(), opset or None)
        self._has_data_file = native.has_data_file
        self._write(native)
        self.inputs = tuple(_input(*each) for each in native.inputs)
        self.outputs = tuple(name for name, dtype, _ in native.outputs if dtype in _MEASURED)
        self._is_small = False

    def expect(self, observed_bytes: int) -> None:
        """What a sample takes; small models run on one thread."""
        weights = self._weights.stat().st_size if self._weights.is_file() else 0
        self._is_small = observed_bytes + weights <= _SMALL

    def replaced(self, native: _native.Model) -> FloatModel:
        """Another model with the same inputs and outputs, as a file next to this one."""
        other = copy.copy(self)
        other.path = self.folder / "equalized.onnx"
        other._write(native)
        return other

    def _write(self, native: _native.Model) -> None:
        """With its weights in a file of their own, which other models can refer to."""
        _native.write(native, str(self.path), external_data=True)

    @property
    def _weights(self) -> Path:
        return self.path.with_name(self.path.name + ".data")

    def native(self) -> _native.Model:
        """The model anew, over the mapped file; to be written as the one that it was made of."""
        model = _native.read_model(str(self.path))
        model.has_data_file = self._has_data_file
        return model

    def session(
        self,
        native: _native.Model | None = None,
        outputs: Sequence[str] = (),
        *,
        as_written: bool = False,
    ) -> Any:
        """A session of a model, by default of this one, with further values among its outputs.

        `as_written`: node by node, without what ONNX Runtime makes of them.
        """
        path = self.path
        if native is not None or outputs:
            native = native or self.native()
            if outputs:
                _native.add_outputs(native, list(outputs))
            path = self.folder / "run.onnx"
            in_place = {str(self._weights): self._weights.name}
            _native.reference_external_weights(native, in_place)
            _native.write(native, str(path), in_place=in_place)
        try:
            return open_session(
                str(path), _options(as_written=as_written, threads=1 if self._is_small else 0)
            )
        except OnnxExporterError:
            raise
        except Exception as error:
            raise OnnxExporterError(f"ONNX Runtime: {error}") from error


def run(session: Any, feed: Feed, outputs: Sequence[str]) -> list[Any]:
    """The outputs as arrays. Raises SX1834 where the runtime cannot run the sample."""
    if not outputs:  # which means all of them to the runtime
        return []
    try:
        return list(session.run(list(outputs), feed))
    except Exception as error:
        raise refusal(
            "SX1834", f"ONNX Runtime cannot run the model with a sample: {error}",
            "give samples of sizes that the model takes",
        ) from error  # fmt: skip


def _options(*, as_written: bool, threads: int) -> Any:
    ort = package("onnxruntime", "quantization")
    options = ort.SessionOptions()
    options.log_severity_level = 4  # errors are raised
    options.intra_op_num_threads = threads
    # Threads that wait for the next sample take time from what is computed between two of them.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if as_written:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def optimized(
    native: _native.Model,
    runtime: str,
    precision: _native.PrecisionOptions,
    opset: int | None = None,
) -> Any:
    """Optimizes a model in place, without functions and with its initializers as constants; returns
    the weights in other types."""
    return _native.simplify(
        native,
        opset=opset,
        runtime=runtime,
        stop_after="",
        disable=[],
        precision=precision,
        functions=False,
        inline_functions=True,
        freeze_initializers=True,
        # A file that needs no optimization would be read again, without the types of its values.
        is_as_read=False,
        dims=_native.DimOptions(),
        record_rules=False,
    )[2]


def copy_of(model: Any, folder: Path) -> _native.Model:
    """A native model that nothing else sees."""
    if isinstance(model, (str, os.PathLike)):
        return source_of(model)
    path = folder / "source.onnx"
    _native.write(source_of(model), str(path))
    return _native.read_model(str(path))


def _input(name: str, dtype: str, shape: list[int | str | None] | None) -> Input:
    sizes = None
    if shape is not None:
        sizes = tuple(size if isinstance(size, int) else None for size in shape)
    # NumPy has no such types of eight bits or less, and nobody feeds them.
    known = dtype if dtype == "bool" or hasattr(np, dtype) else "float32"
    return Input(name, np.dtype(object if dtype == "string" else known), sizes)

"""The scheme w4a16: weights of 4 bits in blocks, activations in floating point."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from sardonyx import _native
from sardonyx._base.errors import ConversionError, refusal
from sardonyx._optimize.precision import HeldWeight, Precision, native_precision

from .arguments import TARGETS
from .data import Feed, feeds
from .measure import output_noise, worst
from .options import WEIGHT_ONLY, Quantization
from .report import QuantizationReport, QuantizedLayer
from .running import FloatModel, copy_of, optimized, run

# Samples that errors are measured on.
_MEASURED = 16


def quantize_weights(
    model: Any, data: Any, options: Quantization, folder: Path
) -> tuple[_native.Model, QuantizationReport]:
    """As `sardonyx.optimize(precision="int4")`; with the errors of the outputs where there are
    samples. Raises SX1830 for targets without it, SX1833 where no weight can be quantized."""
    if options.runtime not in _native.target_names():
        targets = [each for each in TARGETS if each in _native.target_names()]
        raise refusal(
            "SX1830",
            f"there are no block-wise quantized weights for '{options.runtime}'",
            f"choose {', '.join(targets)}",
            ConversionError,
        )
    mixed: Any = options.mixed  # whose names the native library checks
    begin = time.perf_counter()
    native = copy_of(model, folder)
    if options.force:
        _native.remove_quantization(native)
    precision = native_precision(Precision("int4", keep=options.keep, mixed=mixed))
    weights = optimized(native, options.runtime, precision)
    layers = tuple(_layer(HeldWeight(each)) for each in weights)
    if not layers:
        raise refusal(
            "SX1833",
            "the model has no weight for w4a16, which takes matrices of float32 products",
            "choose another scheme; --force (force=True) quantizes a model in QDQ form anew",
            ConversionError,
        )
    report = QuantizationReport(options.runtime, WEIGHT_ONLY, layers, (), 0, 0)
    report = replace(report, seconds={"quantize": time.perf_counter() - begin})
    if data is not None:
        source = FloatModel(model, 0, folder, dequantize=options.force)
        samples = itertools.islice(feeds(data, source.inputs, options.batch), _MEASURED)
        report = _measured(report, native, source, list(samples))
    return native, report


def _layer(weight: HeldWeight) -> QuantizedLayer:
    return QuantizedLayer(
        weight.name, weight.type, weight.name, "", weight.relative_error, False,
        weight.bytes_before, weight.bytes,
    )  # fmt: skip


def _measured(
    report: QuantizationReport, native: _native.Model, source: FloatModel, samples: list[Feed]
) -> QuantizationReport:
    if not source.outputs:
        return replace(report, samples=len(samples))
    session = source.session()
    exact = [run(session, feed, source.outputs) for feed in samples]
    noise = output_noise(source, native, samples, exact, as_written=False)
    levels = {name: each.decibels for name, each in noise.items()}
    return replace(report, samples=len(samples), snr=worst(noise), outputs=levels)

"""`sardonyx.quantize`: from a model in float to one in integers."""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sardonyx import _native
from sardonyx._base.bytes_written import bytes_written
from sardonyx._base.errors import usage_error
from sardonyx._model.program import ONNXProgram
from sardonyx._optimize.optimize import result_of

from .calibrate import Observation, Progress, Statistics, patterns
from .data import count_of
from .equalize import EqualizedValue, equalized, is_same, only_asked_for
from .measure import Noise, layer_noise, output_noise, worst
from .options import WEIGHT_ONLY, Method, Quantization, Scheme, When, exactly
from .report import (
    FloatLayer,
    QuantizationReport,
    QuantizedLayer,
    warn_of_noise,
    with_layer_snr,
    with_reasons,
)
from .running import FloatModel
from .search import KEEP, Changes, layers_to_change
from .weight_only import quantize_weights

AnyPath = str | os.PathLike[str]
# In decibels. Outputs that are as exact as this need no equalization to be measured.
_EXACT = 50.0


class Quantized(NamedTuple):
    """A quantized model, and what was done: `model, report = sardonyx.quantize(...)`."""

    model: Any
    report: QuantizationReport


def quantize(
    model: Any,
    data: Any = None,
    out: AnyPath | None = None,
    *,
    stats: Statistics | AnyPath | Iterable[AnyPath] | None = None,
    scheme: Scheme | None = None,
    runtime: str = "onnxruntime-cpu",
    method: Method = "mse",
    percentile: float = 99.99,
    snr: float | None = None,
    keep: Iterable[str] = (),
    mixed: Mapping[str, str] | None = None,
    per_channel: bool = True,
    correct_bias: bool = True,
    round_adaptively: bool = True,
    rounding_seconds: float | None = None,
    equalize: When = "auto",
    smooth: When = "auto",
    batch: int = 1,
    memory: int | None = None,
    force: bool = False,
    explain: bool = False,
    progress: Progress | None = None,
) -> Quantized:
    """Quantizes weights and activations of an ONNX model, by what they are on samples.

    Args:
        model: the path of an ONNX file, an onnx.ModelProto, an onnx_ir.Model or an ONNXProgram, in
            float32. It is not changed.
        data: samples: an .npz file (the first axis counts them), a folder of .npy or .npz files
            (each is a sample), "script.py:function" that gives them, a mapping of arrays, or any
            iterable of dicts, tuples or single tensors, such as a DataLoader. May be None with
            `stats`.
        out: the path to write to, atomically.
        stats: what `sardonyx.calibrate` gave, or its files, which are merged; instead of a run of
            the model in float. Weights are rounded to nearest without `data`.
        scheme: "w8a8", "w8a16" or "fp8", types of weights and activations, as the target has them;
            by default its first. "w4a16": weights alone, in blocks, as `sardonyx.optimize` has them
            with precision="int4"; samples only measure the outputs.
        runtime: "onnxruntime-cpu", "onnxruntime-avx2", "openvino", "tensorrt", "qnn" or "ryzen-ai".
        method: how the range of an activation is chosen: "minmax", "percentile", "mse" (the least
            mean squared error) or "entropy".
        percentile: of "percentile": the share of elements within the range, on each side of zero.
        snr: signal to noise of the outputs that is to hold on the samples, in decibels: layers that
            cost most get activations of 16 bits, where the target computes with them, or stay in
            float until it does.
        keep: operator types, or regular expressions of names of nodes, their outputs or weights:
            what they match stays in float.
        mixed: such expressions with "a8" or "a16", the bits of the activations that matching layers
            take, or "keep"; the first match counts.
        per_channel: a scale for each output channel of a weight, where the target has them.
        correct_bias: whether biases make up for the means that rounded weights change.
        round_adaptively: whether weights are rounded so that products of the samples change least,
            or each to nearest.
        rounding_seconds: how long weights are rounded adaptively, at most, also where `snr` has
            several models tried: those of the largest products are rounded to nearest then, and
            two runs may differ. None: as long as it takes.
        equalize: cross-layer equalization: factors move from the channels of a product into the
            weights of the next one. "auto": where the samples say that the products gain 3 decibels
            or more, the outputs have less than 50, and are measured to be nearer to those in float;
            "always": wherever the products gain at all; or "never". Needs samples, which are run
            twice.
        smooth: the same from a normalization into the weights after it (SmoothQuant).
        batch: samples of an array that are run at once, where the model's first dimension is
            dynamic.
        memory: bytes that observed values may take at once; the model runs several times over the
            samples where all take more.
        force: quantizes a model in QDQ form anew, of what it computes dequantized.
        explain: measures the signal to noise of each layer, too.
        progress: called with the samples run so far, and their number, if that is known.

    Returns:
        `(model, report)`. The model is the path `out` if given, else of the type of `model`; for a
            path, an ONNXProgram.

    Warns:
        LowAccuracyWarning: the outputs have less than 10 dB of signal to noise on the samples, or
            less than `snr` though all layers but one stay in float.

    Raises:
        UsageError: the samples do not fit the model (SX1834), or an option is of no known name.
        ConversionError: the target has no such scheme (SX1830), the model is quantized already
            (SX1831), the statistics are of another model (SX1832), or nothing can be quantized
            (SX1833).
        SaveError: `out` can't be written; the previous file is kept.
    """
    options = Quantization(
        "" if scheme == WEIGHT_ONLY else scheme or "", runtime, method, percentile,
        per_channel, correct_bias,
        round_adaptively and method == "mse",
        math.inf if rounding_seconds is None else rounding_seconds,
        patterns(keep), mixed or {}, batch, memory, force, equalize, smooth,
    )  # fmt: skip
    if data is None and stats is None and scheme != WEIGHT_ONLY:
        raise usage_error("quantization needs samples or statistics", "give `data` or `stats`")
    if snr is not None and math.isnan(snr):
        raise usage_error("the signal to noise that is to hold is not a number")
    if data is None and (snr is not None or explain):
        raise usage_error("errors are measured on samples", "give `data`")
    if "always" in (equalize, smooth) and (stats is not None or isinstance(data, Iterator)):
        raise usage_error(
            "equalized models are calibrated anew on the same samples",
            "give `data` that can be read twice, without `stats`",
        )
    if scheme == WEIGHT_ONLY and snr is not None:
        raise usage_error("no layer of w4a16 gets more bits by itself", "use `mixed` or `keep`")
    with tempfile.TemporaryDirectory(prefix="sardonyx-") as folder:
        if scheme == WEIGHT_ONLY:
            native, report = quantize_weights(model, data, options, Path(folder))
        else:
            oldest = options.oldest_opset(may_raise=snr is not None)
            work = _Work(FloatModel(model, oldest, Path(folder), dequantize=force), options, snr)
            work.calibrate(data, stats, progress)
            native, report = work.quantized()
        if explain and scheme != WEIGHT_ONLY:
            report = work.explained(native, report)
        warn_of_noise(report, snr, stacklevel=2)
        if out is not None:
            with bytes_written(out) as written:
                _native.write(native, os.fspath(out), progress=written)
        done = native if not isinstance(model, ONNXProgram) else ONNXProgram(native)
        result = done if isinstance(done, ONNXProgram) and out is None else None
        return Quantized(result or result_of(_kind_of(model), native, out), report)


def _kind_of(model: Any) -> Any:
    """What stands for the type of the model; an ONNXProgram would take the new model itself."""
    return "" if isinstance(model, ONNXProgram) else model


class _Attempt(NamedTuple):
    """A quantized model, with the errors of its outputs where there are samples."""

    native: _native.Model
    report: QuantizationReport

    @property
    def decibels(self) -> float:
        """The least signal to noise of the outputs."""
        return math.inf if self.report.snr is None else self.report.snr


class _Work:
    """The steps, over a model in float on disk."""

    def __init__(self, model: FloatModel, options: Quantization, snr: float | None) -> None:
        if snr is not None and not model.outputs:
            raise usage_error("the model has no floating-point outputs to measure errors of")
        self._model = model
        self._options = options
        self._snr = snr
        self._has_cpu_kernels = options.native().has_cpu_kernels
        self._observation: Observation | None = None
        self._equalized: tuple[EqualizedValue, ...] = ()
        self._attempted: _Attempt | None = None  # of all layers, of the model so far
        self._rounded = _native.RoundedWeights(keeps=snr is not None)
        self._seconds: dict[str, float] = {}

    def calibrate(
        self, data: Any, stats: Statistics | AnyPath | Iterable[AnyPath] | None, progress: Any
    ) -> None:
        begin = time.perf_counter()
        if data is not None:
            self._observation = self._observed(self._model, data, progress)
        if stats is not None:
            self._statistics = _loaded(stats).native
        else:
            assert self._observation is not None
            self._statistics = self._observation.calibration.statistics
            if not isinstance(data, Iterator):
                self._equalize(data, progress)
        self._seconds["calibrate"] = time.perf_counter() - begin

    def _observed(self, model: FloatModel, data: Any, progress: Any) -> Observation:
        count = count_of(data)
        observation = Observation(model, self._options, count)
        observation.run(data, self._options.batch, progress, count)
        return observation

    def _equalize(self, data: Any, progress: Any) -> None:
        """Goes on with an equalized model, if there is one that is better or was asked for."""
        assert self._observation is not None
        model, observation = self._model, self._observation
        asked_for = only_asked_for(self._options)
        for options in dict.fromkeys((self._options, asked_for)):
            is_measured = options != asked_for
            if is_measured:
                self._attempted = before = self._attempt({})
                if before.decibels >= max(_EXACT, self._snr or 0):
                    continue
            found = equalized(model, observation, options)
            if found is None or not (is_measured or is_same(found.model, observation)):
                continue
            after = self._observed(found.model, data, progress)
            # The same samples measure both, also where the data come in another order each time.
            after.feeds, after.outputs = observation.feeds, observation.outputs
            self._use(found.model, after, found.values)
            if not is_measured:
                self._attempted = None
                return
            attempt = self._attempt({})
            if attempt.decibels > before.decibels:
                self._attempted = attempt
                return
            self._use(model, observation, ())

    def _use(
        self, model: FloatModel, observation: Observation, values: tuple[EqualizedValue, ...]
    ) -> None:
        self._model, self._observation, self._equalized = model, observation, values
        self._statistics = observation.calibration.statistics
        self._rounded.clear()

    def quantized(self) -> tuple[_native.Model, QuantizationReport]:
        begin, snr = time.perf_counter(), self._snr
        native, report = self._attempted or self._attempt({})
        if snr is not None and report.snr is not None and report.snr < snr:
            more_bits = self._options.native().more_bits
            changes, reasons = layers_to_change(report, snr, more_bits, self._noise_of)
            native, report = self._attempt(changes)
            report = with_reasons(report, reasons)
        self._seconds["quantize"] = time.perf_counter() - begin
        return native, replace(report, seconds=self._seconds)

    def explained(self, native: _native.Model, report: QuantizationReport) -> QuantizationReport:
        """With the signal to noise of each layer."""
        assert self._observation is not None
        names = [each.output for each in report.layers]
        path = self._model.folder / "quantized.onnx"
        _native.write(native, str(path))
        again = _native.read_model(str(path))
        return with_layer_snr(
            report,
            layer_noise(
                self._model,
                again,
                names,
                self._observation.feeds,
                as_written=not self._has_cpu_kernels,
            ),
        )

    def _attempt(self, changes: Changes) -> _Attempt:
        native, report = self._made(changes)
        if self._observation is not None and self._model.outputs:
            noise = self._noise(native, None)
            levels = {name: each.decibels for name, each in noise.items()}
            report = replace(report, snr=worst(noise), outputs=levels)
        return _Attempt(native, report)

    def _made(self, changes: Changes) -> tuple[_native.Model, QuantizationReport]:
        native = self._model.native()
        options = self._options.native(
            [exactly(name) for name, to in changes.items() if to == KEEP],
            [(exactly(name), to) for name, to in changes.items() if to != KEEP],
        )
        observation = self._observation
        has_samples = observation is not None and self._options.round_adaptively
        calibration = observation.calibration if observation and has_samples else None
        done = _native.quantize_model(native, self._statistics, calibration, options, self._rounded)
        return native, QuantizationReport(
            self._options.runtime,
            options.scheme,
            tuple(QuantizedLayer(*each) for each in done["layers"]),
            tuple(FloatLayer(*each) for each in done["kept"]),
            done["values"],
            self._statistics.samples,
            equalized=self._equalized,
        )

    def _noise_of(self, changes: Changes, samples: int | None) -> float:
        """The signal to noise of the outputs with such layers, on some of the samples."""
        native, _ = self._made(changes)
        return worst(self._noise(native, samples))

    def _noise(self, native: _native.Model, samples: int | None) -> dict[str, Noise]:
        assert self._observation is not None
        return output_noise(
            self._model,
            native,
            self._observation.feeds[:samples],
            self._observation.outputs[:samples],
            as_written=not self._has_cpu_kernels,
        )


def _loaded(stats: Statistics | AnyPath | Iterable[AnyPath]) -> Statistics:
    if isinstance(stats, Statistics):
        return stats
    if isinstance(stats, (str, os.PathLike)):
        return Statistics.load(stats)
    return Statistics.load(*stats)

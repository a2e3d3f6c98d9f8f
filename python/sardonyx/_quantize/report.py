"""What quantization did to a model, and how far its outputs are from those in float."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from sardonyx._base.errors import LowAccuracyWarning

from .equalize import EqualizedValue

# In decibels. Below it, the noise of the outputs is a third of them and more.
LOW_SNR = 10.0


class QuantizedLayer(NamedTuple):
    """A product with a constant weight that is computed in integers."""

    name: str
    op: str
    weight: str
    output: str
    weight_error: float  # root mean square, as a part of the weight's
    is_adaptive: bool  # its weight was rounded by samples, and not to nearest
    bytes_before: int
    bytes_after: int
    snr: float | None = None  # of its output, in decibels, with all before it quantized, too
    more_bits: str = ""  # why its activations have more bits than those of other layers

    def note(self) -> str:
        """How it was quantized."""
        nearest = "" if self.is_adaptive else ", rounded to nearest"
        more = f"; more bits: {self.more_bits}" if self.more_bits else ""
        return f"weight error {self.weight_error:.2%}{nearest}{more}"


class FloatLayer(NamedTuple):
    """A node that the target could compute in integers, and that stays in float."""

    name: str
    op: str
    reason: str


@dataclass(frozen=True)
class QuantizationReport:
    """What `sardonyx.quantize` did. `str()` has it as text.

    Attributes:
        runtime: the target runtime.
        scheme: the types of weights and activations.
        layers: what is quantized, in the order of the graph.
        kept: what stays in float, and why.
        activations: how many values are quantized.
        samples: samples of the calibration.
        snr: signal to noise of the outputs on samples of the calibration, in decibels: the least of
            all outputs. None without samples.
        outputs: the same of each output.
        seconds: the time of each step.
        equalized: activations whose channels were given like magnitudes.
    """

    runtime: str
    scheme: str
    layers: tuple[QuantizedLayer, ...]
    kept: tuple[FloatLayer, ...]
    activations: int
    samples: int
    snr: float | None = None
    outputs: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    equalized: tuple[EqualizedValue, ...] = ()

    @property
    def bytes_before(self) -> int:
        """Of the weights that are quantized."""
        return sum(each.bytes_before for each in self.layers)

    @property
    def bytes_after(self) -> int:
        """The same, now: integers and scales."""
        return sum(each.bytes_after for each in self.layers)

    def as_json(self) -> dict[str, Any]:
        """The report as objects, lists and numbers."""
        made = asdict(self)
        made["layers"] = [each._asdict() for each in self.layers]
        made["kept"] = [each._asdict() for each in self.kept]
        made["equalized"] = [each._asdict() for each in self.equalized]
        return made

    def __str__(self) -> str:
        activations = f" and {self.activations} activations" if self.activations else ""
        raised = sum(bool(each.more_bits) for each in self.layers)
        counts = (
            f"{len(self.layers)} layers{activations} in {self.scheme} for {self.runtime}, "
            + (f"{raised} of them with more bits, " if raised else "")
            + f"{len(self.kept)} layers in float"
        )
        sizes = f"{self.bytes_after / 1e6:.2f} MB, {self.bytes_before / 1e6:.2f} MB before"
        lines = [f"{counts}; weights: {sizes}"]
        if self.snr is not None:
            lines.append(f"signal to noise on {self.samples} samples: {self.snr:.1f} dB")
        if len(self.outputs) > 1:
            lines += [f"  {name}: {snr:.1f} dB" for name, snr in self.outputs.items()]
        return "\n".join(lines)

    def measures(self) -> dict[str, Any]:
        """The error of the output of each layer, as `sardonyx inspect --html --measures` reads it:
        the noise as a part of the signal, in percent; and what is to be said of layers, such as why
        they stay in float."""
        errors = {
            each.output: 100 * 10 ** (-each.snr / 20)
            for each in self.layers
            if each.snr is not None
        }
        notes = {each.output: each.note() for each in self.layers}
        notes |= {each.name: f"stays in float: {each.reason}" for each in self.kept}
        for value in self.equalized:
            for name in value.layers:
                output = next((each.output for each in self.layers if each.name == name), name)
                notes[output] = f"{notes.get(output, '')}; {value.note()}".removeprefix("; ")
        return {"title": "error of quantization", "unit": "%", "nodes": errors, "notes": notes}

    def explained(self) -> str:
        """The text with a line for each layer."""
        lines = [str(self)]
        for layer in self.layers:
            snr = "" if layer.snr is None else f", output {layer.snr:.1f} dB"
            lines.append(f"{layer.op} {layer.name}: {layer.note()}{snr}")
        lines += [f"{each.name}: {each.note()}" for each in self.equalized]
        lines += [f"{each.op} {each.name} stays in float: {each.reason}" for each in self.kept]
        return "\n".join(lines)


def with_layer_snr(report: QuantizationReport, snr: dict[str, float]) -> QuantizationReport:
    """The report with the signal to noise of layers, by the name of their output."""
    layers = tuple(each._replace(snr=snr.get(each.output)) for each in report.layers)
    return replace(report, layers=layers)


def with_reasons(report: QuantizationReport, reasons: dict[str, str]) -> QuantizationReport:
    """The report with the reason why layers have more bits or stay in float, by their names."""
    layers = tuple(each._replace(more_bits=reasons.get(each.name, "")) for each in report.layers)
    kept = tuple(each._replace(reason=reasons.get(each.name, each.reason)) for each in report.kept)
    return replace(report, layers=layers, kept=kept)


def warn_of_noise(report: QuantizationReport, snr: float | None, stacklevel: int) -> None:
    """A warning where the outputs have little in common with those in float, or less than `snr`
    decibels."""
    if report.snr is None or report.snr >= max(LOW_SNR, snr or 0):
        return
    worst = min(report.outputs, key=lambda name: report.outputs[name])
    message = (
        f"output '{worst}' of the quantized model has {report.snr:.1f} dB of signal to noise on "
        "the samples: "
    )
    if report.snr < LOW_SNR:
        message += (
            "little of it is right; ask for more with snr= (--snr), or see by explain=True "
            "(--explain) which layers cost most"
        )
    else:
        message += f"{snr:g} dB do not hold, whatever layers stay in float"
    warnings.warn(message, LowAccuracyWarning, stacklevel=stacklevel + 1)

"""Factors of channels that move from activations into weights, where that is measured to help."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sardonyx import _native

from .calibrate import Observation
from .measure import output_noise, worst
from .options import Quantization
from .running import FloatModel

# In decibels. Of what a product is estimated to gain, less than this is lost elsewhere.
_GAIN = 3.0
_LEAST_GAIN = 0.1
# The model in float has to stay the same: less is more than float32 rounds.
_SAME = 60.0


class EqualizedValue(NamedTuple):
    """An activation whose channels were given like magnitudes."""

    name: str
    layers: list[str]  # the products that take it
    step: str  # "smooth": from a normalization; "equalize": from the product before it
    gain: float  # of the products, in decibels, on the samples

    def note(self) -> str:
        """What was done to it."""
        done = "smoothed" if self.step == "smooth" else "equalized"
        return f"{done}, its products gain {self.gain:.1f} dB"


class Equalized(NamedTuple):
    """The model in float with other weights, and what changed in it."""

    model: FloatModel
    values: tuple[EqualizedValue, ...]


def equalized(
    model: FloatModel, observation: Observation, options: Quantization
) -> Equalized | None:
    """The model after cross-layer equalization and smoothing; None where no value gains."""
    values: list[EqualizedValue] = []
    native = model.native()
    for always in (False, True):
        when = "always" if always else "auto"
        steps = options.equalize == when, options.smooth == when
        if not any(steps):
            continue
        gain = _LEAST_GAIN if always else _GAIN
        values += [
            EqualizedValue(name, layers, "smooth" if is_smoothed else "equalize", decibels)
            for name, layers, is_smoothed, decibels in _native.equalize_model(
                native, observation.calibration, options.native(), *steps, gain
            )
        ]
    return Equalized(model.replaced(native), tuple(values)) if values else None


def is_same(model: FloatModel, before: Observation) -> bool:
    """Whether a model gives the outputs in float of the one that was observed."""
    noise = output_noise(model, model.native(), before.feeds, before.outputs, as_written=False)
    return worst(noise) >= _SAME


def only_asked_for(options: Quantization) -> Quantization:
    """Options without the steps that have to be measured to help."""
    return replace(
        options,
        equalize="never" if options.equalize == "auto" else options.equalize,
        smooth="never" if options.smooth == "auto" else options.smooth,
    )

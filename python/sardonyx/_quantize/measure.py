"""Signal to noise: of outputs, of the layers before them, and what each layer costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sardonyx import _native

from .data import Array, Feed
from .running import FloatModel, run

# Two tensors that are equal: no noise at all.
_LARGEST = 200.0


class Noise:
    """Sums of squares of tensors and of their errors, for tensors that arrive in parts."""

    def __init__(self) -> None:
        self._signal = 0.0
        self._noise = 0.0

    def add(self, exact: Array, other: Array) -> None:
        """A part of both."""
        wide = np.asarray(exact, np.float64).ravel()
        difference = wide - np.asarray(other, np.float64).ravel()
        self._signal += float(wide @ wide)
        self._noise += float(difference @ difference)

    @property
    def share(self) -> float:
        """The noise as a part of the signal."""
        return self._noise / self._signal if self._signal > 0 else float(self._noise > 0)

    @property
    def decibels(self) -> float:
        """Signal to noise; at most 200."""
        if math.isnan(self.share):
            return -_LARGEST
        return min(-10 * math.log10(max(self.share, 1e-20)), _LARGEST)


def output_noise(
    model: FloatModel,
    quantized: _native.Model,
    samples: Sequence[Feed],
    exact: Sequence[Sequence[Array]],
    *,
    as_written: bool,
) -> dict[str, Noise]:
    """Of each floating-point output, between what it was in float and the quantized model."""
    session = model.session(quantized, as_written=as_written)
    noise = {name: Noise() for name in model.outputs}
    for feed, outputs in zip(samples, exact, strict=True):
        for name, before, after in zip(
            model.outputs, outputs, run(session, feed, model.outputs), strict=True
        ):
            noise[name].add(before, after)
    return noise


def worst(noise: dict[str, Noise]) -> float:
    """The least signal to noise of all outputs, in decibels."""
    return min((each.decibels for each in noise.values()), default=_LARGEST)


def layer_noise(
    model: FloatModel,
    quantized: _native.Model,
    names: Sequence[str],
    samples: Sequence[Feed],
    *,
    as_written: bool,
) -> dict[str, float]:
    """Signal to noise of values within the model, in decibels."""
    noise = {name: Noise() for name in names}
    before = model.session(outputs=names)
    after = model.session(quantized, names, as_written=as_written)
    for feed in samples:
        exact = run(before, feed, names)
        for name, value, other in zip(names, exact, run(after, feed, names), strict=True):
            noise[name].add(value, other)
    return {name: each.decibels for name, each in noise.items()}

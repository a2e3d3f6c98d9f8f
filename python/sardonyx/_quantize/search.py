"""Which layers stay in float so that the outputs are as exact as asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .report import QuantizationReport, QuantizedLayer

# Layers are ranked on so many samples.
_RANKING_SAMPLES = 4

# The signal to noise of the outputs with some layers in float, on some of the samples.
NoiseOf = Callable[[Iterable[str], int | None], float]


def layers_to_keep(report: QuantizationReport, snr: float, noise_of: NoiseOf) -> dict[str, str]:
    """The names of layers that stay in float, those that cost most first, each with the reason."""
    ranked = _by_cost(report.layers, noise_of)
    names = [layer.name for layer, _ in ranked]
    # One layer has to be left; more of them in float are no worse.
    few, many = 0, len(names) - 1
    while few < many:
        middle = (few + many) // 2
        if noise_of(names[:middle], None) >= snr:
            many = middle
        else:
            few = middle + 1
    return {
        layer.name: f"alone it leaves {alone:.1f} dB, and {snr:g} dB are to hold"
        for layer, alone in ranked[:many]
    }


def _by_cost(
    layers: tuple[QuantizedLayer, ...], noise_of: NoiseOf
) -> list[tuple[QuantizedLayer, float]]:
    """Layers with the signal to noise that the outputs have where they alone are quantized."""
    names = [each.name for each in layers]
    ranked = []
    for layer in layers:
        others = [name for name in names if name != layer.name]
        ranked.append((layer, noise_of(others, _RANKING_SAMPLES)))
    return sorted(ranked, key=lambda each: each[1])

"""Which layers get more bits, or stay in float, so that the outputs are as exact as asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .report import QuantizationReport, QuantizedLayer

# Layers are ranked on so many samples.
_RANKING_SAMPLES = 4

KEEP = "keep"
# By the name of a layer: "a16", the bits of its activations, or "keep".
Changes = Mapping[str, str]
# The signal to noise of the outputs with such layers, on some of the samples.
NoiseOf = Callable[[Changes, int | None], float]


class Plan(NamedTuple):
    """What changes, and the reason for each layer that does."""

    changes: dict[str, str]
    reasons: dict[str, str]


def layers_to_change(
    report: QuantizationReport, snr: float, more_bits: str, noise_of: NoiseOf
) -> Plan:
    """Layers that cost most first: they get more bits, where the target has these, and stay in
    float where these are not enough."""
    ranked = _by_cost(report.layers, noise_of)
    names = [layer.name for layer, _ in ranked]
    changes: dict[str, str] = {}
    if more_bits:
        raised = dict.fromkeys(names, more_bits)
        if noise_of(raised, None) >= snr:
            count = _fewest(len(names), lambda n: noise_of(_first(raised, n), None) >= snr)
            return _plan(ranked, _first(raised, count), snr)
        changes = raised
    kept = dict.fromkeys(names, KEEP)
    # One layer has to be left; more of them in float are no worse.
    count = _fewest(len(names) - 1, lambda n: noise_of({**changes, **_first(kept, n)}, None) >= snr)
    return _plan(ranked, {**changes, **_first(kept, count)}, snr)


def _first(changes: Changes, count: int) -> dict[str, str]:
    return dict(list(changes.items())[:count])


def _fewest(limit: int, is_enough: Callable[[int], bool]) -> int:
    """The least number that is enough, at most `limit`."""
    few, many = 0, limit
    while few < many:
        middle = (few + many) // 2
        if is_enough(middle):
            many = middle
        else:
            few = middle + 1
    return many


def _plan(ranked: list[tuple[QuantizedLayer, float]], changes: dict[str, str], snr: float) -> Plan:
    alone = {layer.name: decibels for layer, decibels in ranked}
    reasons = {
        name: f"alone it leaves {alone[name]:.1f} dB, and {snr:g} dB are to hold"
        for name in changes
    }
    return Plan(changes, reasons)


def _by_cost(
    layers: tuple[QuantizedLayer, ...], noise_of: NoiseOf
) -> list[tuple[QuantizedLayer, float]]:
    """Layers with the signal to noise that the outputs have where they alone are quantized."""
    names = [each.name for each in layers]
    ranked = []
    for layer in layers:
        others = {name: KEEP for name in names if name != layer.name}
        ranked.append((layer, noise_of(others, _RANKING_SAMPLES)))
    return sorted(ranked, key=lambda each: each[1])

"""What the installed transformers has of what we use beyond its promised API."""

from __future__ import annotations

from typing import NamedTuple

from . import gguf, kernels, models, mtp, outputs, registration, tracing, weights
from .probing import Probe, has


class Feature(NamedTuple):
    """A feature of ours; `reason` says what transformers lacks where it is not available."""

    name: str
    available: bool
    reason: str


CACHES = Probe(
    "key/value caches as inputs and outputs",
    has("cache_utils", "Cache", "DynamicCache", "DynamicLayer", "EncoderDecoderCache"),
)
WINDOWS = Probe(
    "all of the past in caches with sliding windows",
    has("cache_utils", "DynamicSlidingWindowLayer"),
)
_PROBES = (
    CACHES,
    WINDOWS,
    registration.STATIC,
    outputs.ENCODERS,
    models.CLASSES,
    models.UNINITIALIZED,
    models.REMOTE,
    weights.CONVERSIONS,
    gguf.LOADER,
    gguf.NAMES,
    kernels.WRAPPERS,
    tracing.MASKS,
    tracing.NOTHING_KEPT,
    mtp.HEADS,
    mtp.IN_CHECKPOINTS,
)


def features() -> list[Feature]:
    """All of them; what is missing switches off the one feature that needs it."""
    return [Feature(each.name, each.available, each.reason) for each in _PROBES]


def needed() -> list[Feature]:
    """Those without which no checkpoint is exported."""
    probes = (CACHES, models.CLASSES)
    return [Feature(each.name, each.available, each.reason) for each in probes]


def missing() -> list[Feature]:
    """Those that the installed transformers does not have."""
    return [feature for feature in features() if not feature.available]

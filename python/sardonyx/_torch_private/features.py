"""What the installed PyTorch has of what we use beyond its public API."""

from __future__ import annotations

import importlib
from typing import NamedTuple

from . import (
    builtin_functions,
    export,
    fake_tensors,
    operators,
    questions,
    sizes,
    state,
    sympy_caches,
)
from .probing import Probe


class Feature(NamedTuple):
    """A feature of ours; `reason` says what PyTorch lacks where it is not available."""

    name: str
    available: bool
    reason: str


def _tracing_imports() -> None:
    for module in ("modes", "non_strict", "sizes"):
        importlib.import_module(f"{__package__}.{module}")


TRACING = Probe(
    "fake-tensor tracing",
    _tracing_imports,
)


def _script_imports() -> None:
    importlib.import_module(f"{__package__}.torchscript").all_schemas()


_PROBES = (
    TRACING,
    builtin_functions.BUILTINS,
    questions.CONSTANTS,
    questions.QUESTIONS,
    questions.DYNAMO_PLACES,
    questions.CHECKS,
    questions.UNLEARNT,
    questions.TRUTHS,
    questions.ANSWERS,
    questions.LIMITS,
    questions.BRANCHES,
    export.SIZES_ONE,
    export.REFINED,
    export.DERIVATIVES,
    export.DRAFT,
    export.EXPORT_FLAG,
    export.GUARDS_CODE,
    export.INLINING,
    operators.SHAPES_OF_OTHERS,
    operators.WHOLE_RECURRENCES,
    operators.INDICES,
    fake_tensors.CACHE,
    sizes.EMPTY_SIZES,
    sizes.FLOORS,
    sizes.QUOTIENTS,
    sizes.ROUNDING,
    state.BOUND_APPLIES,
    sympy_caches.CACHES,
    Probe("TorchScript in memory", _script_imports),
)


def missed() -> list[Feature]:
    """What was asked for so far, and is not available."""
    return [Feature(each.name, False, each.reason) for each in _PROBES if each.is_missed]


def features() -> list[Feature]:
    """All of them; what is missing switches off the one feature that needs it."""
    return [Feature(each.name, each.available, each.reason) for each in _PROBES]

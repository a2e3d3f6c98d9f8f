"""Programs over the language of TorchScript, by subject; importing them registers them."""

from . import (
    accumulators,
    algorithms,
    axes,
    branches,
    complexes,
    containers,
    futures,
    list_slices,
    lists,
    loops,
    modules,
    numbers,
    operators,
    optionals,
    packed,
    tensors,
    together,
    uneven,
)
from .refused import REFUSED
from .table import CASES, Case

__all__ = [
    "CASES",
    "REFUSED",
    "Case",
    "accumulators",
    "algorithms",
    "axes",
    "branches",
    "complexes",
    "containers",
    "futures",
    "list_slices",
    "lists",
    "loops",
    "modules",
    "numbers",
    "operators",
    "optionals",
    "packed",
    "tensors",
    "together",
    "uneven",
]

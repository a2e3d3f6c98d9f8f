"""Programs over the language of TorchScript, by subject; importing them registers them."""

from . import (
    branches,
    containers,
    lists,
    loops,
    modules,
    numbers,
    operators,
    packed,
    tensors,
    uneven,
)
from .refused import REFUSED
from .table import CASES, Case

__all__ = [
    "CASES",
    "REFUSED",
    "Case",
    "branches",
    "containers",
    "lists",
    "loops",
    "modules",
    "numbers",
    "operators",
    "packed",
    "tensors",
    "uneven",
]

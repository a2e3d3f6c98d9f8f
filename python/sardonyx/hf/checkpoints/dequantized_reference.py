"""What weights in few bits stand for, put into PyTorch's model: its answers then differ from the
exported model's by rounding alone, however much the few bits lose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from sardonyx._optimize.precision import HeldWeight

# Coding in 4 bits loses a tenth; what is turned, or scaled, differs from its weight by far more.
_MAX_LOST = 0.5


class _Value(NamedTuple):
    rows: torch.Tensor  # [rows, columns]: each row shares scales
    is_table: bool


class DequantizedValues:
    """The values of the block-wise quantized weights of all parts of an export."""

    def __init__(self) -> None:
        """There are none yet."""
        self._values: dict[str, list[_Value]] = {}
        # What is joined of several weights, in their order.
        self._joined: list[tuple[list[str], _Value]] = []
        self._taken: set[tuple[str, str, bool]] = set()

    def __bool__(self) -> bool:
        return bool(self._taken)

    def take(self, weights: Iterable[HeldWeight]) -> None:
        """Those of a part that is about to be written. What parts have in common is taken once."""
        for weight in weights:
            key = (f"{weight.name} {' '.join(weight.made_of)}", weight.type, weight.is_table)
            values = None if key in self._taken else weight.values()
            if values is None:
                continue
            self._taken.add(key)
            value = _Value(values, weight.is_table)
            if len(weight.made_of) == 1:
                self._values.setdefault(weight.made_of[0], []).append(value)
            else:
                self._joined.append((weight.made_of, value))

    def put(self, model: torch.nn.Module) -> list[str]:
        """Gives each module that reads such a weight what it stands for; a table of embeddings that
        is the last layer's weight, too, may stand for something else in each. Returns the weights
        that the model has in another form, which stay as they are."""
        known = dict(model.named_parameters(remove_duplicate=False))
        for names, value in self._joined:
            self._split(names, value, known)
        aliases: dict[int, list[str]] = {}
        for name, parameter in known.items():
            aliases.setdefault(id(parameter), []).append(name)
        missing = set(self._values) - set(known)
        for module in list(model.modules()):
            is_table = isinstance(module, torch.nn.Embedding)
            for own, parameter in list(module.named_parameters(recurse=False)):
                names = aliases.get(id(parameter), [])
                values = [each for name in names for each in self._values.get(name, ())]
                if not values:
                    continue
                fitting = [each for each in values if each.is_table == is_table] or values
                rows = fitting[0].rows
                if parameter.dim() == 3 and len(fitting) == parameter.shape[0]:
                    rows = torch.stack([each.rows for each in fitting])  # one for each expert
                placed = _as(rows, parameter)
                if placed is None:
                    missing.add(names[0])
                else:
                    setattr(module, own, torch.nn.Parameter(placed, requires_grad=False))
        return sorted(missing)

    def _split(self, names: list[str], value: _Value, known: dict[str, torch.nn.Parameter]) -> None:
        # What else was worked into them (frequencies beside them, a factor) is no matrix.
        matrices = [name for name in names if name in known and known[name].dim() == 2]
        columns = value.rows.shape[1]
        counts = [known[name].numel() // columns for name in matrices]
        if sum(counts) != value.rows.shape[0]:
            self._values.setdefault(" and ".join(names), []).append(value)
            return
        for name, rows in zip(matrices, value.rows.split(counts), strict=True):
            self._values.setdefault(name, []).append(_Value(rows, value.is_table))


def _as(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor | None:
    """The rows as a weight of that form; None where they are no weight like it."""
    for found in _forms(rows, weight.shape):
        lost = (found.double() - weight.double()).norm()
        if lost <= _MAX_LOST * weight.double().norm():
            return found.to(weight.dtype).contiguous()
    return None


def _forms(rows: torch.Tensor, shape: torch.Size) -> Iterator[torch.Tensor]:
    for found in (rows, rows.mT):
        if found.shape == shape:
            yield found

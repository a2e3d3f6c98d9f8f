"""Places chosen among numbers: where equal numbers compete, PyTorch's choice is one of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._compare.tensors import difference
from sardonyx._torch_private import operators

if TYPE_CHECKING:
    import torch
    import torch.fx

# Operators that say where numbers stand.
_CHOOSING = frozenset(
    f"aten::{name}"
    for name in (
        "argmax",
        "argmin",
        "argsort",
        "kthvalue",
        "max",
        "median",
        "min",
        "mode",
        "nanmedian",
        "sort",
        "topk",
    )
)


class Choice(NamedTuple):
    """How places were chosen: by which operator, among which numbers, along which dim (None: among
    all of them)."""

    operator: str
    numbers: torch.Tensor
    dim: int | None

    def is_tie(self, got: torch.Tensor, want: torch.Tensor) -> bool:
        """Whether two sets of places hold the same numbers, so that either is right."""
        import torch

        if want.dtype != torch.int64 or got.dtype != want.dtype or got.shape != want.shape:
            return False
        mine, theirs = self._numbers_at(got), self._numbers_at(want)
        return mine is not None and theirs is not None and difference(mine, theirs) is None

    def _numbers_at(self, places: torch.Tensor) -> torch.Tensor | None:
        """The numbers at the places; None where there is no such place."""
        numbers, dim = self.numbers, self.dim
        if dim is None:
            numbers, dim = numbers.reshape(-1), 0
            places = places.reshape(-1)
        if numbers.dim() == 0:
            numbers = numbers.reshape(1)
        if places.dim() < numbers.dim():
            places = places.unsqueeze(dim)
        size = numbers.shape[dim]
        if bool(((places < 0) | (places >= size)).any()):
            return None
        return numbers.gather(dim, places)


def may_choose(node: torch.fx.Node) -> bool:
    """Whether a node's operator says where numbers stand."""
    schema = operators.schema_of(node.target)
    return schema is not None and schema.name in _CHOOSING


def choice_of(node: torch.fx.Node, values: Mapping[torch.fx.Node, Any]) -> Choice | None:
    """The choice that a node makes, where `values` holds its inputs; None where it makes none."""
    if not may_choose(node):
        return None
    schema = operators.schema_of(node.target)
    given: dict[str, Any] = {a.name: a.default_value for a in schema.arguments}
    given.update(zip(given, node.args, strict=False))
    given.update(node.kwargs)
    numbers = values.get(given["self"])
    return None if numbers is None else Choice(schema.name, numbers.clone(), given.get("dim"))

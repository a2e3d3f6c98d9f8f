"""Draft export: what torch.export makes of a model when it may guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sardonyx._base import torch_versions

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


class FrozenBranchError(RuntimeError):
    """Only one branch of those that data decide between would be in the program."""


def draft(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    *,
    may_freeze: bool,
) -> ExportedProgram:
    """A program that may lack the kernels by which PyTorch reasons about shapes.

    Raises FrozenBranchError where it decides by the example's data what other data would decide
    otherwise, unless `may_freeze`.
    """
    program = torch_versions.draft_export(model, args, kwargs, dynamic_shapes)
    frozen = [] if may_freeze else _decided_by_data(program)
    if frozen:
        lines = "".join(f"\n    {line}" for line in frozen)
        raise FrozenBranchError(
            f"data decide here, and only what the example's decide would be in the model:{lines}\n"
            "  write it with torch.cond or torch.where; export(..., dynamo=False) freezes it"
        )
    return program


def _decided_by_data(program: ExportedProgram) -> list[str]:
    """The lines of the model where it is."""
    failures = getattr(getattr(program, "_report", None), "failures", ())
    found = []
    for failure in failures:
        if failure.failure_type.name != "DATA_DEPENDENT_ERROR":
            continue
        stack = failure.data.get("user_stack") or [{}]
        place = stack[-1]
        what = place.get("loc") or failure.data.get("expr", "?")
        found.append(f"line {place.get('line', '?')}, in {place.get('name', '?')}: {what}")
    return found

"""Draft export: what torch.export makes of a model when it may guess."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sardonyx._base.state import raise_interrupt
from sardonyx._capture.guards.specializations import Specializations, SpecializedBranchError
from sardonyx._capture.source_location import Place
from sardonyx._torch_private import export as torch_export

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


def draft(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    *,
    specializations: Specializations,
    may_freeze: bool,
) -> ExportedProgram:
    """A program that may lack the kernels by which PyTorch reasons about shapes.

    Where it decides by the example's data what other data would decide otherwise, raises
    SpecializedBranchError, or tells `specializations` so where it `may_freeze`; what is scripted it
    may not.
    """
    program = torch_export.draft_export(model, args, kwargs, dynamic_shapes)
    decided = list(_decided_by_data(program))
    if decided and (specializations.scripted or not may_freeze):
        lines = "".join(f"\n    {line}" for line in decided)
        raise SpecializedBranchError(
            f"data-dependent control flow, of which the model would have the example's:{lines}\n"
            "  write it with torch.cond or torch.where; export(..., dynamo=False) freezes it"
        )
    if decided:
        _check_decisions(program, args, kwargs)
    specializations.python += decided
    return program


def _check_decisions(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """SpecializedBranchError where the program's own assertions deny the example: PyTorch has no
    example of what some operators make, and decides by other data."""
    import torch

    args, kwargs = copy.deepcopy((args, dict(kwargs)))
    try:
        with torch.no_grad():
            program.module()(*args, **kwargs)
    except Exception as error:
        raise_interrupt(error)
        raise SpecializedBranchError(
            "data-dependent control flow, which PyTorch decides in another way than the example's "
            f"data do: {type(error).__name__}: {error}\n  write it with torch.cond or torch.where"
        ) from error


def _decided_by_data(program: ExportedProgram) -> Iterator[Place]:
    """The lines of the model where it is."""
    report = torch_export.report_of_draft(program)
    files = getattr(report, "str_to_filename", {})
    for failure in getattr(report, "failures", ()):
        if failure.failure_type.name != "DATA_DEPENDENT_ERROR":
            continue
        stack = failure.data.get("user_stack") or [{}]
        place = stack[-1]
        file = files.get(place.get("filename"), "?")
        yield Place(file, place.get("line", 0), place.get("name", ""))

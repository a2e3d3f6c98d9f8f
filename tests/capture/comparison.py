"""Two captures of one model as text, line by line."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from sardonyx import _native
from sardonyx._capture.capture import capture, distinct_tensors
from sardonyx._capture.context import capturing
from sardonyx._capture.meta_tracer.entry.capture import quick_capture
from sardonyx._capture.meta_tracer.entry.program_text import lines_that_count
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.shapes.dim_names import constant_dims
from sardonyx._capture.shapes.dim_spec import ConstantDimPolicy
from sardonyx._capture.shapes.dynamic_shapes import prepare
from sardonyx._capture.shapes.short_slices import short_slices
from sardonyx._transformers_private.registration import register_caches

from .explaining import explained
from .samples import samples_within


@dataclass(frozen=True)
class Subject:
    """What torch.export and fake-tensor tracing both capture. `shapes` is for dynamic_shapes."""

    model: torch.nn.Module
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    shapes: Any = None

    def by_torch(self) -> str:
        """The text of torch.export's program; raises what torch.export raises."""
        register_caches(self.model)
        dynamic = prepare(self.model, self.args, self.kwargs, self.shapes)
        found = capture(self.model, self.args, self.kwargs, dynamic, report=lambda _: None)
        by = [attempt.strategy for attempt in found.attempts if attempt.error is None]
        if by != ["torch.export"]:
            raise RuntimeError(f"captured by {by[0]}")
        return text_of(found.program)

    def quickly(self) -> str:
        """The text of fake-tensor tracing's; DeclinedError."""
        register_caches(self.model)
        dynamic = prepare(self.model, self.args, self.kwargs, self.shapes)

        def asked() -> Any:
            raise AssertionError("torch.export is asked while fake-tensor tracing runs")

        with capturing(self.model, self.kwargs):
            args, kwargs = distinct_tensors((self.args, self.kwargs))
            program: Any = quick_capture(self.model, args, kwargs, dynamic.shapes, asked)
            constant = constant_dims(program, dynamic.leaves, {})
            if any(each.wanted.policy is ConstantDimPolicy.MUST_VARY for each in constant):
                raise DeclinedError("the model makes a dimension constant that must vary")
            if short_slices(program, dynamic.leaves, 1):
                raise DeclinedError("a slice of a size that may be 1")
        return text_of(program)


def text_of(program: Any) -> str:
    """Calls, sizes, weights and ranges."""
    ranges = sorted(f"{symbol}: {bounds}" for symbol, bounds in program.range_constraints.items())
    return "\n".join((*ranges, str(_native.walk(program, {}))))


def compared(usual: str, quick: str) -> tuple[str, str]:
    """How two texts compare, *equal*, *explained* or *differs*, and why: the reasons, or the first
    lines that differ."""
    a, b = lines_that_count(usual), lines_that_count(quick)
    reason = explained(a, b)
    if reason is None:
        reason = explained(a, b, samples_within(usual))
    if reason is not None:
        return ("explained", reason) if reason else ("equal", "")
    changed = [
        line
        for line in difflib.unified_diff(a, b, "torch.export", "quick", n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    return "differs", "\n".join(changed[:6])


def difference(usual: str, quick: str) -> str:
    """The first lines in which two texts differ; empty where none does, or it is explained."""
    outcome, lines = compared(usual, quick)
    return lines if outcome == "differs" else ""

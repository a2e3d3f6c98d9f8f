"""Warnings of operators whose sizes the program has for some of the user's sizes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.source_location import place_of_trace

if TYPE_CHECKING:
    import torch


def warning_of(
    node: torch.fx.Node, operator: str, message: str, consequence: str, advice: str
) -> Diagnostic:
    """SX1015 with the user's line: "`message`, at that line: `consequence`"."""
    place = place_of_trace(node.meta.get("stack_trace") or "")
    at = f", at {place}" if place else ""
    return Diagnostic(
        "SX1015",
        f"{message}{at}: {consequence}",
        severity="warning",
        help=advice,
        op=operator,
        node=node.name,
        file=place.file if place else "",
        line=place.line if place else 0,
        function=place.function if place else "",
    )

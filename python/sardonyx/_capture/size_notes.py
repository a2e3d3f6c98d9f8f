"""What is worth knowing of a captured program's sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sardonyx._base.errors import Diagnostic
from sardonyx._base.state import follows_size_branches

from .guards.guards import SizeGuards
from .shapes.clamped_slices import clamped_slices
from .shapes.dim_names import constant_dims
from .shapes.dynamic_shapes import DynamicShapes
from .shapes.ranges import bounded_dims
from .shapes.small_results import small_results
from .source_location import Place, user_place
from .strategies.strategies import FixedSizeError
from .torchscript.scripted import is_scripted

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# The codes of diagnostics that report a program specialized to some values of dynamic dimensions.
_SPECIALIZED = ("SX1008", "SX1012", "SX1015")


class SizePlaces:
    """Where the model's code makes sizes constant.

    Attributes:
        of: the line of each size.
    """

    def __init__(self) -> None:
        self.of: dict[str, Place] = {}

    def keep(self, sizes: Iterable[str]) -> None:
        """Notes the line that runs as the one that makes these constant; the first one counts."""
        new = [size for size in sizes if size not in self.of]
        if new and (place := user_place()) is not None:
            self.of.update(dict.fromkeys(new, place))


def notes_of_sizes(
    program: ExportedProgram,
    dynamic: DynamicShapes,
    places: Mapping[str, Place],
    guards: SizeGuards,
) -> list[Diagnostic]:
    """Of those that are constant or bounded, and of what was asked of them. FixedSizeError for
    those that must vary."""
    constant = [each.diagnostic() for each in constant_dims(program, dynamic.leaves, places)]
    bounded = bounded_dims(program, dynamic.leaves, guards)
    asked = guards.notes(program, dynamic.leaves)
    # Of scripted functions, tracing keeps the branches.
    asked = [replace(n, severity="warning") if is_asked_by_script(n) else n for n in asked]
    found = [*constant, *bounded, *asked]
    if not any(map(is_warned_of, found)):
        from .shapes.unsure_copies import unsure_copies  # needs torch, which is not there for files

        found += unsure_copies(program, dynamic.leaves)
    if follows_size_branches():
        found += clamped_slices(program, dynamic.leaves)
        if not any(map(is_warned_of, found)):  # such results would only be its consequence
            found += small_results(program, dynamic.leaves)
    if refused := [each for each in found if each.severity == "error"]:
        raise FixedSizeError(refused)
    return found


def is_warned_of(note: Diagnostic) -> bool:
    """Whether it warns of a program that is specialized."""
    return note.code in _SPECIALIZED and note.severity != "note"


def is_asked_by_script(note: Diagnostic) -> bool:
    """Whether a scripted function's question about a size was answered for all sizes: traced, it
    stays a branch."""
    return note.code == "SX1015" and is_scripted(note)

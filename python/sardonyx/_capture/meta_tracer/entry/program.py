"""The program that fake-tensor tracing gives: what an export reads of an ExportedProgram."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .naming import take_names

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram
    from torch.export.graph_signature import InputSpec, OutputSpec

    from sardonyx._base.errors import Diagnostic


@dataclass(frozen=True)
class QuickSignature:
    """Inputs and outputs as an ExportGraphSignature has them."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]


@dataclass(frozen=True)
class QuickGraphModule:
    """A graph, whose nodes name no module."""

    graph: torch.fx.Graph


@dataclass
class QuickProgram:
    """The graph has no nodes for the arithmetic of sizes: arguments are the SymInts themselves."""

    graph: torch.fx.Graph
    graph_signature: QuickSignature
    state_dict: Mapping[str, Any]
    constants: Mapping[str, Any]
    range_constraints: Mapping[Any, Any]
    module_call_graph: list[Any]
    example_inputs: tuple[tuple[Any, ...], dict[str, Any]]
    export: Callable[[], ExportedProgram] = field(repr=False)
    notes: Sequence[Diagnostic] = ()
    # What an operator asks that fixes sizes which the user leaves to the model. Another capture may
    # not ask it.
    doubt: str = ""
    has_size_loops: bool = False  # that the model's Python code has
    told_by_torch: Sequence[Diagnostic] = ()  # by that export; `notes` are of this program
    _exported: ExportedProgram | None = field(default=None, repr=False)

    @property
    def graph_module(self) -> QuickGraphModule:
        """Where an ExportedProgram has its graph."""
        return QuickGraphModule(self.graph)

    @property
    def call_spec(self) -> Any:
        """The pytree specs of what it takes and gives."""
        return self.module_call_graph[0].signature

    def exported(self) -> ExportedProgram:
        """The same program as torch.export captures it, made when it is first asked for, with this
        program's names."""
        if self._exported is None:
            self._exported = self.export()
            take_names(self._exported, self.graph)
        return self._exported

"""Where TorchScript reads a tensor's elements as numbers, and what these decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.guards.specializations import Specializations, SpecializedBranchError
from sardonyx._capture.source_location import Place, scripted_place

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

# What makes a number of a tensor; PyTorch's converter keeps tensors for the bools.
_NUMBERS = ("aten::Int", "aten::Float", "aten::item", "aten::ScalarImplicit", "aten::IntImplicit",
            "aten::FloatImplicit")  # fmt: skip
_READS = frozenset((*_NUMBERS, "aten::Bool", "aten::is_nonzero"))


def decided_by_data(graph: Any) -> list[Place]:
    """The data-dependent branches and loops of an inlined graph."""
    nodes = [*graph.findAllNodes("prim::Loop"), *graph.findAllNodes("prim::If")]
    return _places(node for node in nodes if _is_read_of_data(_deciding(node)))


def numbers_of_data(graph: Any) -> list[Place]:
    """Where an inlined graph makes numbers of data."""
    nodes = [node for kind in _NUMBERS for node in graph.findAllNodes(kind)]
    return _places(node for node in nodes if _is_read_of_data([node.output()]))


def _places(nodes: Iterable[Any]) -> list[Place]:
    places = (scripted_place(node.sourceRange()) for node in nodes)
    return [place for place in places if place is not None]


def _deciding(node: Any) -> list[Any]:
    """The values that decide which way a branch or loop goes."""
    values = list(node.inputs())
    if node.kind() == "prim::If":
        return values[:1]
    (body,) = node.blocks()
    return [*values[:2], next(iter(body.outputs()))]


def _is_read_of_data(values: Sequence[Any]) -> bool:
    """Whether a tensor's elements, and not its sizes alone, say what the values are."""
    seen: set[int] = set()
    rest = list(values)
    while rest:
        value = rest.pop()
        if value.unique() in seen:
            continue
        seen.add(value.unique())
        node = value.node()
        inputs = list(node.inputs())
        if node.kind() in _READS and _is_tensor(inputs[0]):
            source = inputs[0].node()
            # Tracing makes tensors of sizes.
            if source.kind() != "prim::NumToTensor":
                return True
            inputs = list(source.inputs())
        elif any(map(_is_tensor, inputs)):
            continue  # a size, or another fact of a tensor
        rest += inputs
        rest += [output for block in node.blocks() for output in block.outputs()]
    return False


def _is_tensor(value: Any) -> bool:
    return bool(value.type().kind() == "TensorType")


class Readings(NamedTuple):
    """Where a TorchScript program reads numbers from data, and its data-dependent control flow."""

    numbers: list[Place]
    decided: list[Place]

    @staticmethod
    def of(graph: Any) -> Readings:
        """Of an inlined graph."""
        return Readings(numbers_of_data(graph), decided_by_data(graph))


def is_scripted(note: Diagnostic) -> bool:
    """Whether its line is one of a scripted function's."""
    from sardonyx._torch_private import torchscript

    codes = (getattr(function, "__code__", None) for function in torchscript.scripted_functions())
    return any(
        code is not None
        and code.co_filename == note.file
        and note.line in (line for _, _, line in code.co_lines())
        for code in codes
    )


_KEPT = "_readings"


def keep_readings(module: torch.nn.Module, graph: Any) -> None:
    """Notes what a module was made of, on its class."""
    setattr(type(module), _KEPT, Readings.of(graph))


def readings_of(module: torch.nn.Module) -> Readings:
    """Those of the TorchScript that a module was made of; none of others."""
    readings: Readings = getattr(type(module), _KEPT, Readings([], []))
    return readings


def check_numbers(
    program: ExportedProgram, module: torch.nn.Module, specializations: Specializations
) -> None:
    """SpecializedBranchError where the program of a module that TorchScript was made into reads a
    number of a tensor, and computes with another in its place.

    Integers that PyTorch's converter computes with are plain ones while torch.export captures them:
    what comes of them is a constant, and nobody reads the number.
    """
    numbers = readings_of(module).numbers
    if numbers and _leaves_numbers_unread(program):
        specializations.scripted += numbers
        raise SpecializedBranchError("numbers that TorchScript makes of data are constants here")


def _leaves_numbers_unread(program: ExportedProgram) -> bool:
    graphs = (m.graph for m in program.graph_module.modules() if hasattr(m, "graph"))
    return any(
        str(node.target) in ("aten.item.default", "aten._local_scalar_dense.default")
        and not node.users
        for graph in graphs
        for node in graph.nodes
    )

"""Writes next to copies that are views at some sizes: `y.T.contiguous()` of one row is `y` itself,
so that a write to `y` shows in it. The program has what the example's sizes make of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.meta_tracer.meta.aliases import is_unaffected, roots, way_back

from .dim_names import least_sizes
from .dim_spec import Leaf
from .memory_regions import MemoryRegion, Write
from .node_warnings import warning_of
from .sampled_sizes import expression_of, sampled_sizes, values_at

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

_MAX_SYMBOLS = 4


def unsure_copies(program: ExportedProgram, leaves: Sequence[Leaf]) -> list[Diagnostic]:
    """A warning (SX1015) for each line that makes such a tensor, where a write shows in it, or one
    to it elsewhere; also within the bodies of branches and loops."""
    import torch

    aten = torch.ops.aten
    kinds = (aten.contiguous.default, aten.reshape.default, aten.flatten.using_ints)
    ranges = {str(symbol): known for symbol, known in program.range_constraints.items()}
    least: Mapping[str, int] | None = None
    found: dict[Any, Diagnostic] = {}
    for region in _regions(program):
        writes = region.writes()
        for node in region.graph.nodes if writes else ():
            if node.target not in kinds or not any(_shows(node, each, region) for each in writes):
                continue
            least = least_sizes(program, leaves) if least is None else least
            if _depends_on_sizes(node, ranges, least):
                note = warning_of(
                    node,
                    str(node.target),
                    f"a tensor ({node.name}) is a copy or a view by the sizes, and its memory is "
                    "written to",
                    "the results for sizes of 1 may be wrong, where PyTorch makes a view",
                    "declare Dim('name', min=2), or make the copy by clone()",
                )
                found.setdefault((note.file, note.line), note)
    return list(found.values())


def _regions(program: ExportedProgram) -> Iterator[MemoryRegion]:
    from torch.export.graph_signature import InputKind

    specs = program.graph_signature.input_specs
    buffers = {spec.arg.name for spec in specs if spec.kind is InputKind.BUFFER}
    waiting = [MemoryRegion(program.graph, buffers)]
    while waiting:
        region = waiting.pop()
        yield region
        waiting += region.bodies()


def _shows(copy: torch.fx.Node, write: Write, region: MemoryRegion) -> bool:
    """Whether it matters to a write if the tensor is a copy."""
    own = roots(copy)
    if not any(own & roots(target) for target in write.targets) or is_unaffected(copy, write.node):
        return False
    if not any(copy in way_back(target) for target in write.targets):
        return True
    # The write goes to the copy: it shows in what else lies in the memory and is read behind it.
    return region.is_read_after(write.node, own, copy)


def _depends_on_sizes(
    node: torch.fx.Node, ranges: Mapping[str, Any], least: Mapping[str, int]
) -> bool:
    """Whether some sizes make it a view, and others a copy."""
    source: Any = node.all_input_nodes[0].meta.get("val")
    result: Any = node.meta.get("val")
    layout = [*source.shape, *source.stride(), *result.shape]
    expressions = [expression_of(each) for each in layout if hasattr(each, "node")]
    symbols = sorted(set().union(*(each.free_symbols for each in expressions)), key=str)
    if not symbols or len(symbols) > _MAX_SYMBOLS:
        return False
    kinds = {_is_view(node, source, result, row) for row in sampled_sizes(symbols, ranges, least)}
    return {True, False} <= kinds


def _is_view(
    node: torch.fx.Node, source: Any, result: Any, sizes: Mapping[Any, int]
) -> bool | None:
    """None where there are no elements, or no such sizes."""
    import torch

    try:
        shape, strides, wanted = values_at(
            [list(source.shape), list(source.stride()), list(result.shape)], sizes
        )
        lies = torch.empty_strided(shape, strides, device="meta")
    except (ValueError, ArithmeticError, LookupError, RuntimeError):
        return None
    if not lies.numel():
        return None
    if node.target is torch.ops.aten.contiguous.default:
        return lies.is_contiguous()
    try:
        lies.view(wanted)
    except RuntimeError:
        return False
    return True

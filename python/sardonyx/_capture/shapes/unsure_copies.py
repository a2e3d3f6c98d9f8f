"""Writes next to copies that are views at some sizes: `y.T.contiguous()` of one row is `y` itself,
so that a write to `y` shows in it. The program has what the example's sizes make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.meta_tracer.meta.aliases import is_unaffected, roots, way_back, written
from sardonyx._torch_private.operators import is_overload, schema_of

from .dim_names import least_sizes
from .dim_spec import Leaf
from .node_warnings import warning_of
from .sampled_sizes import expression_of, sampled_sizes, values_at

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

_MAX_SYMBOLS = 4


def unsure_copies(program: ExportedProgram, leaves: Sequence[Leaf]) -> list[Diagnostic]:
    """A warning (SX1015) for each line that makes such a tensor, where a write shows in it, or one
    to it elsewhere."""
    import torch

    aten = torch.ops.aten
    kinds = (aten.contiguous.default, aten.reshape.default, aten.flatten.using_ints)
    writes = [node for node in program.graph.nodes if _is_write(node)]
    ranges = {str(symbol): known for symbol, known in program.range_constraints.items()}
    least: Mapping[str, int] | None = None
    found: dict[Any, Diagnostic] = {}
    for node in program.graph.nodes if writes else ():
        if node.target not in kinds or not any(_shows(node, write, program) for write in writes):
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


def _is_write(node: torch.fx.Node) -> bool:
    return is_overload(node.target) and schema_of(node.target).is_mutable


def _shows(copy: torch.fx.Node, write: torch.fx.Node, program: ExportedProgram) -> bool:
    """Whether it matters to a write if the tensor is a copy."""
    import torch
    from torch.export.graph_signature import InputKind

    targets: list[torch.fx.Node] = []
    torch.fx.map_arg(list(written(write.target, write.args, write.kwargs)), targets.append)
    own = roots(copy)
    if not any(own & roots(target) for target in targets) or is_unaffected(copy, write):
        return False
    if not any(copy in way_back(target) for target in targets):
        return True
    # The write goes to the copy: it shows in what else lies in the memory and is read behind it.
    specs = program.graph_signature.input_specs
    buffers = {spec.arg.name for spec in specs if spec.kind is InputKind.BUFFER}
    if any(root.name in buffers for root in own):
        return True
    order = {node: place for place, node in enumerate(program.graph.nodes)}
    return any(
        own & roots(source) and copy not in way_back(source)
        for reader in program.graph.nodes
        if order[reader] > order[write]
        for source in reader.all_input_nodes
    )


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

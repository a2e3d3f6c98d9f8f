"""Gives torch.export's program the names of nodes that a fake-tensor tracing of the same model has.

The nodes that torch.export has for the arithmetic of sizes shift the numbers in its names, and the
model that was made of the quick program names its nodes' origins.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from sardonyx._torch_private.operators import schema_of

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


def take_names(program: ExportedProgram, quick: torch.fx.Graph) -> None:
    """Renames the calls that compute tensors. Leaves a program alone whose calls are others."""
    ours = [node for node in quick.nodes if _computes_tensors(node)]
    theirs = [node for node in program.graph.nodes if _computes_tensors(node)]
    if [str(node.target) for node in ours] != [str(node.target) for node in theirs]:
        return
    wanted = [node.name for node in ours]
    room = set(wanted)
    renamed = dict(zip((node.name for node in theirs), wanted, strict=True))
    taken = room | {node.name for node in program.graph.nodes}
    for node in program.graph.nodes:
        if node.name in renamed:
            continue
        if node.name in room:  # the arithmetic of sizes makes room
            name = f"{node.name}_of_sizes"
            while name in taken:
                name += "_"
            taken.add(name)
            renamed[node.name] = name
    for node in program.graph.nodes:
        node.name = renamed.get(node.name, node.name)
    for spec in program.graph_signature.output_specs:
        argument: Any = spec.arg
        if getattr(argument, "name", None) in renamed:
            argument.name = renamed[argument.name]
    program.graph_module.recompile()


def _computes_tensors(node: torch.fx.Node) -> bool:
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return True
    name = str(node.target)
    of_sizes = name.startswith(("aten.sym_", "aten._assert_"))
    return schema_of(node.target) is not None and not of_sizes

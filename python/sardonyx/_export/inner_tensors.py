"""Weights of tensor subclasses that hold plain tensors: torchao's quantized weights.

torch.export keeps such a weight as one input, and has a call for each tensor that it reads of it.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

_READS = "export.access_subclass_inner_tensor.default"


class _WithInnerTensors:
    """A program, but for what is different in it."""

    def __init__(self, program: ExportedProgram, **different: Any) -> None:
        self._program = program
        vars(self).update(different)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)


def with_inner_tensors(program: ExportedProgram) -> ExportedProgram:
    """The program with the plain tensors as its weights: `0.weight.qdata` and `0.weight.scale` for
    `0.weight`. `program` itself stays as it is, and is returned where it has no such weights."""
    if not any(map(_is_read, program.graph.nodes)):
        return program

    import torch

    graph = copy.deepcopy(program.graph)
    for node, captured in zip(graph.nodes, program.graph.nodes, strict=True):
        node.name = captured.name  # which the signature refers to
    specs = list(program.graph_signature.input_specs)
    weights = {**program.constants, **program.state_dict}
    held = {**program.state_dict}
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    kinds = {node: spec for node, spec in zip(nodes, specs, strict=True) if spec.target in weights}
    found: dict[tuple[torch.fx.Node, str], torch.fx.Node] = {}
    for node in filter(_is_read, list(graph.nodes)):
        source, attribute = node.args
        if source not in kinds:
            continue  # of an input, which the reader rejects
        if (inner := found.get((source, attribute))) is None:
            spec = kinds[source]
            name = f"{spec.target}.{attribute}"
            weights[name] = held[name] = getattr(weights[spec.target], attribute)
            with graph.inserting_before(source):
                inner = graph.placeholder(f"{source.name}_{attribute}")
            inner.meta = dict(node.meta)
            made = copy.copy(spec)
            made.target, made.arg = name, type(spec.arg)(name=inner.name)
            found[source, attribute], kinds[inner] = inner, made
        node.replace_all_uses_with(inner)
        graph.erase_node(node)
    _drop_unread(graph, {source for source, _ in found})
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    by_name = {spec.arg.name: spec for spec in (*specs, *kinds.values())}
    signature = copy.copy(program.graph_signature)
    signature.input_specs = [by_name[node.name] for node in nodes]
    plain = _WithInnerTensors(
        program,
        graph=graph,
        graph_module=torch.fx.GraphModule(program.graph_module, graph),
        graph_signature=signature,
        state_dict=held,
    )
    return cast("ExportedProgram", plain)  # which it stands for


def _is_read(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and str(node.target) == _READS


def _drop_unread(graph: torch.fx.Graph, sources: set[torch.fx.Node]) -> None:
    for node in sources:
        if not node.users:
            graph.erase_node(node)

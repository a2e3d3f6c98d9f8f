"""What a GPU would leave to the CPU of any model, by the kernels that the provider registers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import onnx

_RECORDS = Path(__file__).resolve().parents[2] / "tools" / "kernels" / "cuda"
# Of sizes of tensors, which ONNX Runtime computes on the CPU of its own accord.
_ANYWHERE = frozenset(["Constant", "If", "Loop", "Scan"])


@cache
def _record() -> tuple[dict[str, list[Any]], frozenset[str]]:
    newest = max(_RECORDS.glob("*.json"), key=lambda p: [int(part) for part in p.stem.split(".")])
    record = json.loads(newest.read_text(encoding="utf-8"))
    kernels: dict[str, list[Any]] = {}
    for name, first, last, types in record["kernels"]:
        kernels.setdefault(name, []).append((first, last, dict(types)))
    return kernels, frozenset(row[0] for row in record["contrib"])


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _types(model: onnx.ModelProto) -> dict[str, int]:
    try:
        graph = onnx.shape_inference.infer_shapes(model).graph
    except onnx.shape_inference.InferenceError:  # of other exporters: what the file declares
        graph = model.graph
    found = {each.name: each.data_type for each in graph.initializer}
    for values in (graph.input, graph.value_info, graph.output):
        found |= {each.name: each.type.tensor_type.elem_type for each in values}
    return found


def _serves(row: Any, since: int, schema: Any, node: onnx.NodeProto, types: dict[str, int]) -> bool:
    first, last, taken = row
    if since != first and (last == 0x7FFF or not first < since <= last):
        return False
    for formals, names in ((schema.inputs, node.input), (schema.outputs, node.output)):
        for formal, name in zip(formals, names, strict=False):
            bits = taken.get(formal.type_str)
            kind = types.get(name, 0)
            if bits is not None and kind and not bits >> kind & 1:
                return False
    return True


def left_to_the_cpu(model: onnx.ModelProto) -> Counter[str]:
    """Nodes by operator that the CUDA provider has no kernel for in their form and types."""
    kernels, contrib = _record()
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)
    types = _types(model)
    left: Counter[str] = Counter()
    for node in _nodes(model.graph):
        if node.domain not in ("", "ai.onnx"):
            left[node.op_type] += node.op_type not in contrib
            continue
        if node.op_type in _ANYWHERE:
            continue
        schema = onnx.defs.get_schema(node.op_type, opset)
        rows: Iterable[Any] = kernels.get(node.op_type, ())
        is_function = schema.has_function or schema.has_context_dependent_function
        if not rows and is_function:
            continue  # ONNX Runtime expands it
        since = schema.since_version
        left[node.op_type] += not any(_serves(row, since, schema, node, types) for row in rows)
    return +left

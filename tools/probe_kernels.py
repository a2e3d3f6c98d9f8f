"""Records the kernels of a provider that registers them where `get_all_opkernel_def` does not look:
each operator is loaded alone, in each type, and what does not go to the CPU has a kernel.

tools/probe_kernels.py WebGpuExecutionProvider    writes tools/kernels/webgpu/RELEASE.json

Run it where the package of that provider is installed (`docs/development.md` says how WebGPU runs
without a GPU), then tools/generate_kernels.py.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import generate_kernels  # type: ignore[import-not-found]  # a script beside this one
import generate_microsoft  # type: ignore[import-not-found]  # another one
import onnx
import onnxruntime
from onnx import defs, helper

from sardonyx._runtime import registered

OLDEST_OPSET = 13
NAMES = {
    "tensor(float)": "FLOAT", "tensor(float16)": "FLOAT16", "tensor(bfloat16)": "BFLOAT16",
    "tensor(double)": "DOUBLE", "tensor(bool)": "BOOL", "tensor(int8)": "INT8",
    "tensor(uint8)": "UINT8", "tensor(int32)": "INT32", "tensor(uint32)": "UINT32",
    "tensor(int64)": "INT64", "tensor(uint64)": "UINT64", "tensor(int4)": "INT4",
    "tensor(uint4)": "UINT4",
}  # fmt: skip
TYPES = {name: getattr(onnx.TensorProto, dtype) for name, dtype in NAMES.items()}
# The layout of these depends on the rank.
IMAGES = (
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool",
    "BatchNormalization", "InstanceNormalization", "Resize", "DepthToSpace", "SpaceToDepth",
    "GridSample", "LRN", "Upsample",
)  # fmt: skip
ATTRIBUTES: dict[str, Any] = {
    "axis": 0, "blocksize": 2, "equation": "ij->ij", "kernel_shape": [1, 1], "num_heads": 2,
    "kv_num_heads": 1, "K": 32, "N": 8, "bits": 4, "block_size": 32, "size": 1, "to": 1,
    "num_groups": 1, "groups": 1, "activation": "none", "scale": 1.0, "epsilon": 1e-5,
    "q_num_heads": 2,
}  # fmt: skip


@dataclass
class Kernel:
    """As `get_all_opkernel_def` gives it."""

    op_name: str
    domain: str
    version_range: tuple[int, int]
    provider: str
    type_constraints: dict[str, list[str]] = field(default_factory=dict)


class Prober:
    """Loads operators alone, and looks where they went."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.options = onnxruntime.SessionOptions()
        self.options.log_severity_level = 4
        self.written = str(Path(tempfile.mkdtemp()) / "model.onnx")
        self.options.optimized_model_filepath = self.written
        level = onnxruntime.GraphOptimizationLevel
        self.options.graph_optimization_level = level.ORT_DISABLE_ALL
        self.options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")

    def runs(self, schema: Any, chosen: dict[str, str]) -> bool:
        """Whether the provider takes the operator in these types."""
        try:
            model = one_node(schema, chosen)
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), self.options,
                providers=[self.provider, "CPUExecutionProvider"],
            )  # fmt: skip
        except Exception:  # its own classes, of a private module
            return False
        on_cpu = [
            node.op_type
            for part in session.get_provider_graph_assignment_info()
            if part.ep_name == "CPUExecutionProvider"
            for node in part.get_nodes()
        ]
        # A function without a kernel is expanded.
        made = [node.op_type for node in onnx.load(self.written).graph.node]
        return schema.name in made and schema.name not in on_cpu

    def kernel_of(self, schema: Any) -> Kernel | None:
        """With the types that each parameter has while the others have those they have first."""
        allowed = {
            each.type_param_str: [t for t in TYPES if t in each.allowed_type_strs]
            for each in schema.type_constraints
        }
        if not all(allowed.values()):
            return None
        start = next((c for c in starts(allowed) if self.runs(schema, c)), None)
        if start is None:
            return None
        taken = {
            name: [t for t in types if t == start[name] or self.runs(schema, start | {name: t})]
            for name, types in allowed.items()
        }
        version = schema.since_version
        return Kernel(schema.name, schema.domain, (version, version), self.provider, taken)


def starts(allowed: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    for first in ("tensor(float)", "tensor(float16)", "tensor(int32)", "tensor(bool)"):
        yield {name: first if first in types else types[0] for name, types in allowed.items()}
    yield {
        name: "tensor(float)" if "tensor(float)" in types else next(
            (t for t in ("tensor(int32)", "tensor(uint8)") if t in types), types[0]
        )
        for name, types in allowed.items()
    }  # fmt: skip


def type_string(formal: Any) -> str:
    """onnx and ONNX Runtime spell it differently."""
    return str(formal.type_str if hasattr(formal, "type_str") else formal.typeStr)


def dtype_of(formal: Any, chosen: dict[str, str]) -> int:
    name: str = type_string(formal)
    name = chosen.get(name, name)
    return int(TYPES[name])


def one_node(schema: Any, chosen: dict[str, str]) -> onnx.ModelProto:
    formals = [each for each in schema.inputs if not str(each.option).endswith("Optional")]
    if len(formals) < schema.min_input:
        # Two more: GroupQueryAttention is asked for its angles, whether they are there or not.
        formals = list(schema.inputs)[: schema.min_input + 2]
    shapes: list[list[int] | None] = [None] * len(formals)
    if schema.name in IMAGES and formals:
        is_norm = schema.name in ("BatchNormalization", "InstanceNormalization")
        shapes[0] = [1, 4, 8, 8]
        for k in range(1, len(shapes)):
            shapes[k] = [4, 4, 1, 1] if k == 1 and not is_norm else [4]
    values = [
        helper.make_tensor_value_info(f"i{k}", dtype_of(each, chosen), shape)
        for k, (each, shape) in enumerate(zip(formals, shapes, strict=True))
    ]
    outputs = list(schema.outputs[:1])
    attributes = {
        name: ATTRIBUTES[name]
        for name, each in schema.attributes.items()
        if name in ATTRIBUTES and (each.required or name in ("num_heads", "to"))
    }
    if "to" in attributes:
        attributes["to"] = TYPES[chosen[type_string(outputs[0])]]
    node = helper.make_node(
        schema.name, [value.name for value in values], ["o"], domain=schema.domain, **attributes
    )
    made = [helper.make_tensor_value_info("o", dtype_of(outputs[0], chosen), None)]
    graph = helper.make_graph([node], "model", values, made)
    opsets = [
        helper.make_opsetid("", 21 if schema.domain else max(schema.since_version, OLDEST_OPSET))
    ]
    if schema.domain:
        opsets.append(helper.make_opsetid(schema.domain, 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def schemas(newest: int) -> Iterator[Any]:
    """Of the operators of every opset that is asked for, and contrib operators."""
    everything = defs.get_all_schemas_with_history()
    current: dict[str, int] = {}
    for each in everything:
        if not each.domain and each.since_version <= OLDEST_OPSET:
            current[each.name] = max(current.get(each.name, 0), each.since_version)
    for each in everything:
        newer = OLDEST_OPSET < each.since_version <= newest
        if not each.domain and (newer or each.since_version == current.get(each.name)):
            yield each
    for each in registered.schemas():
        if each.domain == "com.microsoft" and each.name in generate_microsoft.EMITTED:
            yield each


def main(arguments: list[str]) -> int:
    provider = arguments[0]
    prober = Prober(provider)
    newest = generate_kernels.newest_opset()
    kernels = [prober.kernel_of(schema) for schema in schemas(newest)]
    found = [kernel for kernel in kernels if kernel is not None]
    folder = generate_kernels.RECORDS / generate_kernels.ACCELERATORS[provider]
    path = folder / f"{generate_kernels.installed()}.json"
    generate_kernels.updated(path, generate_kernels.record_of(found, provider, newest), False)
    print(f"{len(found)} kernels of {provider}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

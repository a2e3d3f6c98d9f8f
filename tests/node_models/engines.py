"""Runs models in ONNX Runtime and in onnx's reference evaluator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper
from onnx.reference import ReferenceEvaluator

Answers = list[Any] | None
LAST_DIGITS = {"bfloat16": 2.0**-6, "float16": 2.0**-9}
RANDOM = {
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
}


# Types that ONNX Runtime neither takes from numpy nor gives to it.
NOT_OF_NUMPY = {
    number
    for name, number in T.DataType.items()
    if name.startswith(("BFLOAT16", "FLOAT8", "FLOAT6", "FLOAT4", "INT4", "UINT4", "INT2", "UINT2"))
}


def in_runtime(model: bytes, feeds: dict[str, Any]) -> Answers:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    wrapped, restored = with_casts(onnx.load_from_string(model))
    if restored:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        model = wrapped.SerializeToString()
        feeds = {n: x.astype(np.float32) if n in restored else x for n, x in feeds.items()}
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        answers = list(session.run(None, feeds))
    except Exception:  # without a kernel, or not for inference
        return None
    names = [value.name for value in wrapped.graph.output]
    return [
        answer.astype(restored[name]) if name in restored else answer
        for name, answer in zip(names, answers, strict=True)
    ]


def with_casts(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Inputs and outputs of types that are not of numpy become float32; and these types."""
    restored: dict[str, Any] = {}
    graph = model.graph
    before, after = [], []
    for values, is_input in ((graph.input, True), (graph.output, False)):
        for value in values:
            dtype = value.type.tensor_type.elem_type
            if dtype not in NOT_OF_NUMPY:
                continue
            restored[value.name] = helper.tensor_dtype_to_np_dtype(dtype)
            value.type.tensor_type.elem_type = T.FLOAT
            inner = f"{value.name}_as_it_was"
            _rename(graph.node, value.name, inner)
            if is_input:
                before.append(helper.make_node("Cast", [value.name], [inner], to=dtype))
            else:
                after.append(helper.make_node("Cast", [inner], [value.name], to=T.FLOAT))
    nodes = [*before, *graph.node, *after]
    del graph.node[:]
    graph.node.extend(nodes)
    return model, restored


def _rename(nodes: Any, old: str, new: str) -> None:
    for node in nodes:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
        for attribute in node.attribute:
            _rename(attribute.g.node, old, new)


def in_reference(model: bytes, feeds: dict[str, Any]) -> Answers:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return list(ReferenceEvaluator(onnx.load_from_string(model)).run(None, feeds))
        except Exception:  # not implemented
            return None


ENGINES: dict[str, Callable[[bytes, dict[str, Any]], Answers]] = {
    "runtime": in_runtime,
    "reference": in_reference,
}


def is_random(model: onnx.ModelProto) -> bool:
    """Whether some node draws: of such a model types and shapes are compared alone."""

    def draws(nodes: Any) -> bool:
        return any(
            node.op_type in RANDOM
            or (node.op_type == "Dropout" and len(node.input) > 2 and node.input[2])
            or any(draws(attribute.g.node) for attribute in node.attribute)
            for node in nodes
        )

    return draws(model.graph.node)


def difference(got: list[Any], wanted: list[Any], rtol: float, atol: float, values: bool) -> str:
    """The first difference; nothing where there is none."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs instead of {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if isinstance(b, list):
            inner = (
                difference(a, b, rtol, atol, values)
                if isinstance(a, list)
                else f"{type(a).__name__} instead of a sequence"
            )
            if inner:
                return f"output {i}: {inner}"
            continue
        if a is None or b is None:
            if (a is None) != (b is None):
                return f"output {i}: {a} instead of {b}"
            continue
        found = _difference(np.asarray(a), np.asarray(b), rtol, atol, values)
        if found:
            return f"output {i}: {found}"
    return ""


def _difference(a: Any, b: Any, rtol: float, atol: float, values: bool) -> str:
    if a.shape != b.shape:
        return f"shape {a.shape} instead of {b.shape}"
    if a.dtype != b.dtype and not (a.dtype.kind in "OUS" and b.dtype.kind in "OUS"):
        return f"{a.dtype} instead of {b.dtype}"
    if not values:
        return ""
    if a.dtype.kind in "OUS":
        equal = np.array_equal(a.astype(str), b.astype(str))
        return "" if equal else "other strings"
    if a.dtype.kind in "biu":
        wrong = a != b
    else:
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        # Half precision is compared to its last digits.
        rtol = max(rtol, LAST_DIGITS.get(a.dtype.name, 0.0))
        x, y = a.astype(wide), b.astype(wide)
        wrong = ~np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
    if not wrong.any():
        return ""
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} differ, at {at} {a[at]} instead of {b[at]}"

"""Models that set what the onnx package's node models leave at its default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from onnx import TensorProto as T
from onnx import helper

from tests.node_models.cases import Case
from tests.node_models.engines import in_reference

RNG = np.random.default_rng(39)


def newer(
    op: str, opset: int, inputs: dict[str, Any], element: int, attributes: dict[str, Any]
) -> Case:
    """`element`: the type of the only output. The expected answer is the reference evaluator's."""
    node = helper.make_node(op, list(inputs), ["y"], **attributes)
    declared = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in inputs.items()
    ]
    result = helper.make_tensor_value_info("y", element, None)
    graph = helper.make_graph([node], "newer", declared, [result])
    imports = [helper.make_opsetid("", opset)]
    version = helper.find_min_ir_version_for(imports)
    model = helper.make_model(graph, opset_imports=imports, ir_version=version)
    data = model.SerializeToString()
    expected = in_reference(data, inputs) or []
    name = f"{op} of opset {opset}: {', '.join(attributes)}"
    return Case(name, data, opset, inputs, expected, 1e-3, 1e-5)


def newer_models() -> list[Case]:
    x = {"x": RNG.uniform(0.1, 4, size=(2, 4)).astype(np.float32)}
    e8m0 = helper.tensor_dtype_to_np_dtype(T.FLOAT8E8M0)
    float8 = helper.tensor_dtype_to_np_dtype(T.FLOAT8E4M3FN)
    codes = {"x": np.array([[3, 128], [7, 255]], np.uint8)}
    scale = {"s": np.array(0.5, np.float32)}
    half = {"s": np.array(0.5, np.float16)}
    quantizes = {**x, **scale, "z": np.zeros((), float8)}
    image = {"x": RNG.normal(size=(1, 4, 5)).astype(np.float32)}
    groups = {**image, "s": np.ones(4, np.float32), "b": np.zeros(4, np.float32)}
    steps = {name: np.array(value, np.float16) for name, value in (("a", 0), ("b", 3), ("c", 0.25))}
    like = {**x, "like": np.ones((), e8m0)}
    to = {"to": T.FLOAT8E8M0, "round_mode": "nearest"}
    windows = {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}
    single = {"output_dtype": T.FLOAT}
    cast = newer("Cast", 24, x, T.FLOAT8E8M0, to)
    # ONNX Runtime drops the attribute where it expands CastLike; the evaluator has no CastLike.
    cast_like = newer("CastLike", 24, like, T.FLOAT8E8M0, {"round_mode": "nearest"})
    bytes_of = {"output_dtype": T.UINT8, "precision": T.FLOAT}
    return [
        cast,
        replace(cast_like, expected=cast.expected),
        newer("DequantizeLinear", 23, {**codes, **half}, T.FLOAT, single),
        newer("GroupNormalization", 21, groups, T.FLOAT, {"num_groups": 2, "stash_type": T.DOUBLE}),
        newer("LpPool", 18, image, T.FLOAT, windows),
        newer("QuantizeLinear", 19, quantizes, T.FLOAT8E4M3FN, {"saturate": 0}),
        newer("QuantizeLinear", 23, {**x, **scale}, T.UINT8, bytes_of),
        newer("Range", 27, steps, T.FLOAT16, {"stash_type": T.DOUBLE}),
    ]

"""The helpers of symbolic functions that write whole layers, in the place of our translations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnxruntime as ort
import pytest
import torch
from torch.nn import functional as F

import sardonyx
from sardonyx import symbolic_helper

# Under the names that symbolic functions import them by.
helper: Any = symbolic_helper
X = torch.arange(48, dtype=torch.float32).reshape(2, 3, 2, 4) * 0.37 - 7
ROWS = torch.arange(24, dtype=torch.float32).reshape(6, 4) - 9.5


def _index_fill(g: Any, x: Any, dim: Any, index: Any, value: Any) -> Any:
    shape, places = helper._index_fill_reshape_helper(g, x, dim, index)
    filled = g.op("Expand", g.op("Constant", value_t=torch.tensor(float(value))), shape)
    return helper._scatter_helper(g, x, dim, places, filled)


def _batch_norm(g: Any, x: Any, *given: Any) -> Any:
    return g.op(
        "BatchNormalization", x, *helper._batchnorm_helper(g, x, *given[:4]), epsilon_f=1e-5
    )


def _avg_pool(g: Any, x: Any, size: Any, stride: Any, padding: Any, *rest: Any) -> Any:
    def pair(given: Any) -> tuple[int, ...]:
        return tuple(given) if len(given) == 2 else (given[0],) * 2

    pads = helper._avgpool_helper(pair, padding, size, stride, rest[2], "avg_pool2d")
    window = {"kernel_shape_i": list(size), "strides_i": list(stride or size)}
    return g.op("AveragePool", x, **window, pads_i=[*pads, *pads], count_include_pad_i=1)


def _interleaved(g: Any, x: Any, repeats: Any, dim: Any, **_: Any) -> Any:
    del repeats
    twice = helper._repeat_interleave_single_value_repeat_helper(g, x, 2, dim)
    parts = helper._repeat_interleave_split_helper(g, x, 3, dim)
    assert [part.node().kind() for part in parts] == ["onnx::Split"] * 3
    return g.op("Concat", twice, *parts, axis_i=dim)


def _interpolated(g: Any, x: Any, size: Any, factors: Any) -> Any:
    scales, mode = helper._interpolate_get_scales_and_mode(g, x, size, factors, "nearest", None)
    return g.op("Resize", x, None, scales, mode_s=mode, nearest_mode_s="floor",
                coordinate_transformation_mode_s="asymmetric")  # fmt: skip


Case = tuple[str, Callable[..., Any], Callable[..., Any], tuple[torch.Tensor, ...]]
BAG = (torch.tensor([5, 0, 1, 3, 2]), torch.tensor([0, 2, 2]))
CASES: tuple[Case, ...] = (
    ("aten::upsample_nearest2d", helper._interpolate_helper("upsample_nearest2d", 4, "nearest"),
     lambda x: F.interpolate(x, scale_factor=2.0), (X,)),
    ("aten::upsample_nearest2d", helper._interpolate_helper("upsample_nearest2d", 4, "nearest"),
     lambda x: F.interpolate(x, size=(6, 8)), (X,)),
    ("aten::upsample_bilinear2d", helper._interpolate_helper("upsample_bilinear2d", 4, "linear"),
     lambda x: F.interpolate(x, size=(5, 7), mode="bilinear", align_corners=True), (X,)),
    ("aten::upsample_nearest2d", _interpolated, lambda x: F.interpolate(x, (4, 4)), (X,)),
    ("aten::upsample_nearest2d", _interpolated, lambda x: F.interpolate(x, scale_factor=3.0), (X,)),
    ("aten::sum", helper._reduce_with_dtype_helper("ReduceSum", "sum"),
     lambda x: x.sum((1, 2), keepdim=True), (X,)),
    ("aten::sum", helper._reduce_with_dtype_helper("ReduceSum", "sum"),
     lambda x: x.sum(-1, dtype=torch.float64), (X,)),
    ("aten::sum", helper._reduce_with_dtype_helper("ReduceSum", "sum"), lambda x: x.sum(), (X,)),
    ("aten::amax", helper._reduce_op_symbolic_helper("ReduceMax"), lambda x: x.amax((0, 3)), (X,)),
    ("aten::var_mean", helper._var_mean_helper,
     lambda x: torch.var_mean(x, (1, 3), correction=2, keepdim=True), (X,)),
    *(("aten::linalg_vector_norm", helper._linalg_vector_norm_helper,
       lambda x, order=order: torch.linalg.vector_norm(x, order, dim=(1, -1)), (X,))
      for order in (0.0, 1.0, 2.0, 2.5, float("inf"), -float("inf"))),
    ("aten::linalg_vector_norm", helper._linalg_vector_norm_helper,
     lambda x: torch.linalg.vector_norm(x, 3.0), (X,)),
    ("aten::index_fill", _index_fill, lambda x: x.index_fill(1, torch.tensor([0, 2]), 4.5), (X,)),
    ("aten::batch_norm", _batch_norm,
     lambda x: F.batch_norm(x, torch.ones(3), torch.full((3,), 2.0)), (X,)),
    ("aten::batch_norm", _batch_norm,
     lambda x: F.instance_norm(x) * 0 + F.batch_norm(x, None, None, training=True), (X[:1],)),
    ("aten::avg_pool2d", _avg_pool, lambda x: F.avg_pool2d(x, 2, padding=1), (X,)),
    ("aten::arange", helper._arange_helper, lambda x: x[0, 0, 0] + torch.arange(4), (X,)),
    ("aten::arange", helper._arange_helper,
     lambda x: x[0, 0, 0] + torch.arange(1.0, 9.0, 2.0), (X,)),
    *(("aten::embedding_bag", helper._embedding_bag_helper,
       lambda w, i, o, mode=mode: F.embedding_bag(i, w, o, mode=mode), (ROWS, *BAG))
      for mode in ("sum", "mean", "max")),
    ("aten::embedding_bag", helper._embedding_bag_helper,
     lambda w, i, o: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=w[:5, 0],
                                     include_last_offset=True),
     (ROWS, BAG[0], torch.tensor([0, 2, 5]))),
)  # fmt: skip


@pytest.mark.parametrize("opset", [17, 20])
@pytest.mark.parametrize("case", CASES, ids=[f"{i} {case[0]}" for i, case in enumerate(CASES)])
def test_layers(case: Case, opset: int) -> None:
    name, symbolic, function, inputs = case
    called = []

    def counting(g: Any, *args: Any, **kwargs: Any) -> Any:
        called.append(name)
        return symbolic(g, *args, **kwargs)

    class Module(torch.nn.Module):
        def forward(self, *given: torch.Tensor) -> Any:
            return function(*given)

    sardonyx.register_custom_op_symbolic(name, counting, 13)
    try:
        program = sardonyx.export(Module(), inputs, opset_version=opset, verbose=False)
    finally:
        sardonyx.unregister_custom_op_symbolic(name, 13)
    assert called
    session = ort.InferenceSession(program.model_proto.SerializeToString())
    feeds = {
        node.name: each.numpy() for node, each in zip(session.get_inputs(), inputs, strict=True)
    }
    expected = function(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for found, wanted in zip(session.run(None, feeds), expected, strict=True):
        torch.testing.assert_close(torch.from_numpy(found), wanted)


def _translated_by(symbolic: Callable[..., Any]) -> None:
    """Has a symbolic function translate an operator of one tensor."""

    class Module(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.erfinv(x)

    sardonyx.register_custom_op_symbolic("aten::erfinv", symbolic, 13)
    try:
        sardonyx.export(Module(), (ROWS,), verbose=False)
    finally:
        sardonyx.unregister_custom_op_symbolic("aten::erfinv", 13)


def test_what_a_value_comes_of() -> None:
    seen: list[Any] = []

    def symbolic(g: Any, x: Any) -> Any:
        two = g.op("Constant", value_t=torch.tensor([2.0]))
        product = g.op("Mul", x, two)
        turned = g.op("Transpose", product, perm_i=[1, 0])
        node = turned.node()
        seen.extend((x.node().kind(), two.node().kind(), node.kind(), node.hasAttribute("perm")))
        seen.extend((helper._node_get(node, "perm"), node.inputs()[0].node().kind()))
        torch.testing.assert_close(two.node().t("value"), torch.tensor([2.0]))
        return g.op("Transpose", turned, perm_i=[1, 0])

    _translated_by(symbolic)
    assert seen == ["prim::Param", "onnx::Constant", "onnx::Transpose", True, [1, 0], "onnx::Mul"]


def test_what_they_refuse() -> None:
    def refused(call: Callable[..., Any]) -> None:
        def symbolic(g: Any, x: Any) -> Any:
            with pytest.raises(sardonyx.OnnxExporterError):
                call(g, x)
            return g.op("Identity", x)

        _translated_by(symbolic)

    refused(lambda _g, _x: helper._avgpool_helper(tuple, (1,), 2, 2, 3, "avg_pool1d"))
    refused(lambda g, x: helper._embedding_bag_helper(g, x, x, x, 0, 0, 0, None, 0, 1))
    refused(lambda _g, x: helper._unpack_quantized_tensor(x))
    refused(lambda g, x: helper._interpolate_get_scales_and_mode(g, x, 4, None, "linear", True))
    assert helper._unpack_quantized_tensor((1, 2, 3)) == (1, 2, 3)

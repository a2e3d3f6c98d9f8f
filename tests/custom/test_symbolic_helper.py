"""The family of symbolic_helper.parse_args, in symbolic functions that use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import onnxruntime as ort
import pytest
import torch

import sardonyx
from sardonyx import symbolic_helper

# Under the names that symbolic functions import them by.
helper: Any = symbolic_helper
X = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4) - 7


@torch.library.custom_op("helped::parts", mutates_args=())
def parts(x: torch.Tensor, dim: int, sizes: list[int], scale: float) -> torch.Tensor:
    return x.sum(dim) * scale + sizes[0]


@parts.register_fake
def _(x: torch.Tensor, dim: int, sizes: list[int], scale: float) -> torch.Tensor:
    return x.sum(dim)


@torch.library.custom_op("helped::order", mutates_args=())
def order(x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


@order.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(2)


class Parts(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return parts(x, 1, [3, 4], 0.5)


@contextmanager
def _registered(name: str, function: Callable[..., Any]) -> Iterator[None]:
    sardonyx.register_custom_op_symbolic(name, function, 13)
    try:
        yield
    finally:
        sardonyx.unregister_custom_op_symbolic(name, 13)


def _answer(module: torch.nn.Module, opset: int, x: torch.Tensor = X) -> Any:
    program = sardonyx.export(module, (x,), opset_version=opset, verbose=False)
    session = ort.InferenceSession(program.model_proto.SerializeToString())
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})


@pytest.mark.parametrize("opset", [13, 17, 23])
def test_helpers_that_write_nodes(opset: int) -> None:
    @helper.parse_args("v", "i", "is", "f")
    def symbolic(g: Any, x: Any, dim: int, sizes: list[int], scale: float) -> Any:
        assert helper._is_value(x)
        assert not helper._is_none(x)
        assert helper._is_fp(x)
        assert not helper._is_bool(x)
        assert helper._get_tensor_rank(x) == 3
        assert helper._get_tensor_sizes(x) == [2, 3, 4]
        assert helper._get_tensor_dim_size(x, -1) == 4
        assert helper._try_get_scalar_type(x) == helper.JitScalarType.FLOAT
        total = helper._reducesum_helper(g, x, axes_i=[dim], keepdims_i=0)
        again = helper._squeeze_helper(g, helper._unsqueeze_helper(g, total, [0]), [0])
        first = helper._reshape_helper(g, again, [8])
        rows = helper._reshape_helper(g, first, [*sizes[1:], 2])
        same = helper._reshape_helper(g, helper._slice_helper(g, rows, [0], [0], [4]), [2, 4])
        factor = g.op("Constant", value_t=torch.tensor(scale))
        offset = helper._maybe_cast_to_type(
            g, g.op("Constant", value_t=torch.tensor(sizes[0])), helper.JitScalarType.FLOAT
        )
        return g.op("Add", g.op("Mul", same, factor), offset)

    with _registered("helped::parts", symbolic):
        (found,) = _answer(Parts(), opset)
    torch.testing.assert_close(torch.from_numpy(found), Parts()(X))


def test_types_by_torchscripts_names() -> None:
    def symbolic(g: Any, x: Any, dim: Any, sizes: Any, scale: Any) -> Any:
        assert not helper.is_complex_value(x)
        assert helper._scalar(x) is None
        assert helper._scalar(scale) == 0.5
        assert helper._is_scalar_list(sizes)
        whole = g.op("Cast", x, to_i=helper.cast_pytorch_to_onnx["Long"])
        part = g.op("Cast", whole, to_i=helper.scalar_type_to_onnx[helper.JitScalarType.FLOAT])
        count = g.op("Cast", helper._numel_helper(g, x), to_i=sardonyx.TensorProtoDataType.FLOAT)
        return helper._reducesum_helper(g, g.op("Add", part, count), axes_i=[1], keepdims_i=0)

    with _registered("helped::parts", symbolic):
        (found,) = _answer(Parts(), 18)
    torch.testing.assert_close(torch.from_numpy(found), (X + 24).sum(1))
    names, theirs = helper.cast_pytorch_to_onnx, torch.onnx.symbolic_helper.cast_pytorch_to_onnx
    assert {name: int(number) for name, number in theirs.items()} == names
    assert helper.pytorch_name_to_type["Half"] is torch.float16
    assert helper.scalar_name_to_pytorch["int64_t"] == "Long"


def test_order_selection_and_sizes() -> None:
    class Order(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return order(x)

    def symbolic(g: Any, x: Any) -> Any:
        values, _ = helper._sort_helper(g, x, 2, decending=False)
        largest, _ = helper._topk_helper(g, values, 2, 2, sorted=True)
        row = helper._select_helper(g, largest, 1, 0)
        flat = helper._flatten_helper(g, row, 0, 1, 2)
        count = helper._maybe_cast_to_type(
            g, helper._size_helper(g, x, 2), helper.JitScalarType.FLOAT
        )
        one, two = helper._unbind_helper(g, helper._reshape_helper(g, flat, [2, 2]), 0)
        less = helper._lt_helper(g, one, two)
        return g.op("Where", less, g.op("Mul", two, count), one)

    with _registered("helped::order", symbolic):
        (found,) = _answer(Order(), 18)
    assert found.tolist() == [8 * 4, 7 * 4]


def test_what_is_known_and_what_is_computed() -> None:
    seen: list[Any] = []

    @helper.quantized_args(True)
    def symbolic(g: Any, x: Any, dim: Any, sizes: Any, scale: Any) -> Any:
        number = g.op("Constant", value_t=torch.tensor(3))
        seen.extend(
            (helper._is_constant(number), helper._is_constant(x), helper._is_packed_list(sizes))
        )
        seen.append(helper._maybe_get_const(number, "i"))
        seen.append(helper._maybe_get_const(x, "i") is x)
        seen.append(helper._maybe_get_scalar(number))
        seen.append(helper._get_const(dim, "i", "dim"))
        seen.append(helper._unpack_list(sizes))
        seen.append(helper._parse_arg(number, "t").dtype)
        with pytest.raises(sardonyx.OnnxExporterError, match=r"'x' .*the model computes it"):
            helper._get_const(x, "i", "x")
        helper._unimplemented("parts", "of three dimensions")

    with (
        _registered("helped::parts", symbolic),
        pytest.raises(RuntimeError, match="parts, of three dimensions"),
    ):
        _answer(Parts(), 18)
    assert seen == [True, False, True, 3, True, 3, 1, [3, 4], torch.int64]


def test_a_tensor_that_is_known() -> None:
    class Shifted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("steps", torch.tensor([1.0, 2.0]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.special.xlogy(x[0, 0, :2], self.steps)

    @helper.parse_args("v", "t")
    def symbolic(g: Any, x: Any, steps: torch.Tensor) -> Any:
        return g.op("Mul", x, g.op("Constant", value_t=steps * 10))

    with _registered("aten::xlogy", symbolic), _registered("aten::special_xlogy", symbolic):
        (found,) = _answer(Shifted(), 18)
    assert found.tolist() == [-70.0, -120.0]


def test_opsets_that_have_no_form() -> None:
    def symbolic(g: Any, *args: Any) -> Any:
        helper._onnx_opset_unsupported("parts", g.opset, 99)

    with (
        _registered("helped::parts", symbolic),
        pytest.raises(RuntimeError, match="parts in opset 18; try opset version 99"),
    ):
        _answer(Parts(), 18)
    with (
        _registered("helped::parts", helper._block_list_in_opset("parts")),
        pytest.raises(RuntimeError, match="parts in opset 18"),
    ):
        _answer(Parts(), 18)

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


@pytest.mark.parametrize("opset", [13, 18])
def test_extremes_and_ranges(opset: int) -> None:
    def symbolic(g: Any, x: Any, dim: Any, sizes: Any, scale: Any) -> Any:
        most, place = helper._max_helper(g, x, 1, False)
        least, _ = helper._min_helper(g, x, 1, False)
        whole = helper._max_helper(g, x)
        above = helper._max_helper(g, x, helper._generate_wrapped_number(g, 2.5))
        first = helper._argmin_argmax_helper(g, x, 1, False, "ArgMin")
        anywhere = helper._argmin_argmax_helper(g, x, None, True, "ArgMax")
        wanted, end, start, step = helper._arange_cast_helper(g, end=3, step=1)
        assert wanted == helper.JitScalarType.INT64
        assert start is None
        assert helper._get_dim_for_cross(x, None) == 1
        assert helper._is_split_static([1, 2], 2)
        assert not helper._is_tuple_construct(x)
        assert helper._type_promote_from_values(x, end) == helper.JitScalarType.FLOAT
        counts = helper._op_with_optional_float_cast(g, "Add", end, step)
        float_ = helper.JitScalarType.FLOAT
        extra = [
            helper._maybe_cast_to_type(g, each, float_) for each in (place, first, counts, anywhere)
        ]
        total = g.op("Sub", g.op("Add", most, least), whole)
        for each in [*extra[:3], helper._reshape_helper(g, extra[3], [1, 1])]:
            total = g.op("Add", total, each)
        return g.op("Add", total, helper._handle_reduce_dim_none(g, above, "ReduceMean"))

    with _registered("helped::parts", symbolic):
        (found,) = _answer(Parts(), opset)
    wanted = X.amax(1) + X.amin(1) - X.max() + 2 + 0 + 4 + X.argmax() + X.clamp(min=2.5).mean()
    torch.testing.assert_close(torch.from_numpy(found), wanted)


def test_quantized_tensors_are_tuples() -> None:
    def symbolic(g: Any, x: Any, dim: Any, sizes: Any, scale: Any) -> Any:
        step = g.op("Constant", value_t=torch.tensor(0.5))
        zero = g.op("Constant", value_t=torch.tensor(3))
        held = helper.quantize_helper(g, helper._reducesum_helper(g, x, [1], 0), step, zero)
        assert len(held) == 3
        bias = helper.requantize_bias_helper(g, step, step, step)
        made, _, _, axis = helper.dequantize_helper(g, held)
        assert axis is None
        assert bias[0].type().scalarType() == "Int"
        return made

    with _registered("helped::parts", symbolic):
        (found,) = _answer(Parts(), 17)
    total = (X.sum(1) * 2).round().clamp(-3, 252) / 2
    torch.testing.assert_close(torch.from_numpy(found), total)


def test_overloads_by_their_arguments() -> None:
    @helper._overload_by_arg_count
    def symbolic(g: Any, *args: Any) -> Any:
        @helper.parse_args("v", "i")
        def two(g: Any, x: Any, dim: int) -> Any:
            raise AssertionError

        @helper.parse_args("v", "i", "is", "f")
        def four(g: Any, x: Any, dim: int, sizes: list[int], scale: float) -> Any:
            if dim != 1:
                raise sardonyx.errors.SymbolicValueError("only the second axis", x)
            return helper._reducesum_helper(g, x, [dim], 0)

        return two, four

    with _registered("helped::parts", symbolic):
        (found,) = _answer(Parts(), 17)
    torch.testing.assert_close(torch.from_numpy(found), X.sum(1))
    assert issubclass(sardonyx.errors.SymbolicValueError, sardonyx.errors.OnnxExporterError)
    with pytest.warns(sardonyx.errors.OnnxExporterWarning, match="batch_norm"):
        helper.check_training_mode(1, "batch_norm")


def test_sizes_as_tensors() -> None:
    class Turned(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            sizes = sardonyx.operators.shape_as_tensor(x)
            wanted = torch.stack([sizes[1] * sizes[2], sizes[0]])
            return sardonyx.operators.reshape_from_tensor_shape(x, wanted), sizes

    scripted: Any = torch.jit.trace(Turned(), (X,))
    other = torch.randn(5, 3, 4)
    for model in (Turned(), scripted):
        program = sardonyx.export(model, (X,), dynamic_shapes={"x": {0: "n"}})
        found = program(other)
        for ours, theirs in zip(found, Turned()(other), strict=True):
            torch.testing.assert_close(ours, theirs)

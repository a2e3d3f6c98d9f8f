"""Models of PyTorch's own quantized tensors and of the layers that compute with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.ao import quantization
from torch.ao.nn import quantized
from torch.export import Dim
from torch.utils import _pytree as pytree

import sardonyx
from tests.harness.rotation import long_test
from tests.harness.wellformed import assert_wellformed

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch deprecates what is tested here

U8, I8, I32 = torch.quint8, torch.qint8, torch.qint32


class Of(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: Tensor) -> Any:
        return self.function(*tensors)


def assert_right(
    model: nn.Module, *inputs: tuple[Tensor, ...], dynamic_shapes: Any = None, step: float = 0
) -> sardonyx.ONNXProgram:
    """Exports on the first inputs, and compares with eager PyTorch on all of them."""
    program = sardonyx.export(model, inputs[0], dynamic_shapes=dynamic_shapes)
    assert_wellformed(program.model_proto)
    for each in inputs:
        with torch.no_grad():
            wanted = pytree.tree_leaves(model(*each))
        for got, want in zip(program(*each), wanted, strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6 + step)
    return program


def halves(*shape: int) -> Tensor:
    """Multiples of half a step of the scale 0.25, where rounding has ties."""
    return torch.randint(-300, 300, shape) * 0.125


@pytest.mark.parametrize("zero_point", [0, 3, 64, 127])
@pytest.mark.parametrize("dtype", [U8, I8, I32])
def test_ties_are_rounded_as_by_eager(dtype: torch.dtype, zero_point: int) -> None:
    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        q = torch.quantize_per_tensor(x, 0.25, zero_point, dtype)
        return q.int_repr(), torch.dequantize(q)

    assert_right(Of(both), (halves(40, 25),))


def test_ties_of_channels() -> None:
    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        scales, zero_points = torch.tensor([0.25, 0.5, 0.1]), torch.tensor([3, 0, -7])
        q = torch.quantize_per_channel(x, scales, zero_points, 1, I8)
        return q.int_repr(), q.dequantize()

    assert_right(Of(both), (halves(9, 3, 40),))


@pytest.mark.parametrize("dtype", [U8, I8])
@pytest.mark.parametrize("reduce_range", [False, True])
def test_scale_of_the_data(dtype: torch.dtype, reduce_range: bool) -> None:
    def rounded(x: Tensor) -> Tensor:
        return torch.quantize_per_tensor_dynamic(x, dtype, reduce_range).dequantize()

    data = [(torch.randn(n, 20) + 0.3,) for n in (50, 7, 1)]
    assert_right(Of(rounded), *data, dynamic_shapes=(({0: Dim("n")},),))


def quantized_input(x: Tensor) -> Any:
    return torch.quantize_per_tensor(x, 0.25, 5, U8)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "a number added": lambda q: [
        torch.ops.quantized.add_scalar(q, number).dequantize() for number in (1, 0.33, -80.0, 9.6)
    ],
    "a number added, then relu": lambda q: torch.ops.quantized.add_scalar_relu(q, -2).dequantize(),
    "a number times": lambda q: [
        torch.ops.quantized.mul_scalar(q, number).dequantize() for number in (2.5, 0, -0.3)
    ],
    "a number times, then relu": lambda q: torch.ops.quantized.mul_scalar_relu(q, -2).dequantize(),
    "adaptive pooling": lambda q: nn.functional.adaptive_avg_pool2d(q, 2).dequantize(),
    "average pooling": lambda q: nn.functional.avg_pool2d(q, 2).dequantize(),
    "cat": lambda q: torch.cat([q, q], 1).dequantize(),
    "clamp": lambda q: torch.clamp(q, -1.0, 2.0).dequantize(),
    "clamp from below": lambda q: torch.clamp(q, min=-1.0).dequantize(),
    "hardtanh": lambda q: nn.functional.hardtanh(q, -2.0, 1.0).dequantize(),
    "in place": lambda q: nn.functional.relu_(q).dequantize(),
    "index": lambda q: q[1:, :, 0].dequantize(),
    "leaky relu": lambda q: nn.functional.leaky_relu(q, 0.5).dequantize(),
    "linear resampling": lambda q: nn.functional.interpolate(
        q, scale_factor=2, mode="bilinear"
    ).dequantize(),
    "max pooling": lambda q: nn.functional.max_pool2d(q, 3, 2, 1).dequantize(),
    "mean": lambda q: q.mean((2, 3)).dequantize(),
    "nearest": lambda q: nn.functional.interpolate(q, scale_factor=2).dequantize(),
    "numbers": lambda q: q.dequantize() * q.q_scale() + q.q_zero_point(),
    "relu": lambda q: torch.relu(q).dequantize(),
    "shapes": lambda q: q.permute(0, 2, 3, 1).contiguous().view(-1, 3).t().dequantize(),
    "sigmoid": lambda q: torch.sigmoid(q).dequantize(),
    "size": lambda q: q.int_repr().reshape(q.size(0), -1, q.shape[1]),
    "tanh": lambda q: torch.tanh(q).dequantize(),
    "unbind": lambda q: [part.dequantize() for part in q.unbind(1)],
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions(function: Callable[[Any], Any]) -> None:
    model = Of(lambda x: function(quantized_input(x)))
    data = [(halves(batch, 3, 8, 8),) for batch in (2, 5)]
    assert_right(model, *data, dynamic_shapes=(({0: Dim("batch")},),))


def test_integers_read_as_quantized() -> None:
    def both(x: Tensor, y: Tensor) -> Tensor:
        left = torch._make_per_tensor_quantized_tensor(x, 0.1, 3)
        scales, zeros = torch.tensor([0.1, 0.2]), torch.tensor([1, 2])
        right = torch._make_per_channel_quantized_tensor(y, scales, zeros, 0)
        return torch.mm(torch.dequantize(left), torch.dequantize(right))

    bytes_ = torch.randint(0, 255, (4, 2), dtype=torch.uint8)
    assert_right(Of(both), (bytes_, torch.randint(-99, 99, (2, 5), dtype=torch.int8)))


class Kept(nn.Module):
    """A quantized tensor among the buffers."""

    def __init__(self) -> None:
        super().__init__()
        weight = torch.quantize_per_channel(
            torch.randn(4, 3), torch.rand(4) + 0.1, torch.zeros(4).long(), 0, I8
        )
        self.register_buffer("weight", weight)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight.dequantize())


def test_quantized_buffers_stay_where_they_are() -> None:
    model = Kept()
    weight = model.weight
    assert_right(model, (torch.randn(2, 3),))
    assert model._buffers == {"weight": weight}
    assert "weight" not in vars(model)


class Network(nn.Module):
    """Convolutions, what may stand between them, and a linear layer, from float32 to float32."""

    def __init__(self) -> None:
        super().__init__()
        self.entry, self.exit = quantization.QuantStub(), quantization.DeQuantStub()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, groups=2)
        self.relu, self.swish, self.norm = nn.ReLU(), nn.Hardswish(), nn.BatchNorm2d(8)
        self.sum, self.joined = quantized.FloatFunctional(), quantized.FloatFunctional()
        self.pool, self.linear = nn.AdaptiveAvgPool2d(1), nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.first(self.entry(x)))
        x = self.norm(self.second(x))
        x = self.sum.add(x, self.swish(x))
        x = self.joined.cat([self.pool(x), self.pool(self.relu(x))], dim=1)
        return self.exit(self.linear(torch.flatten(x, 1)))


class Signal(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.entry, self.exit = quantization.QuantStub(), quantization.DeQuantStub()
        self.convolution, self.product = nn.Conv1d(3, 4, 3, stride=2), quantized.FloatFunctional()

    def forward(self, x: Tensor) -> Tensor:
        x = self.convolution(self.entry(x))
        return self.exit(self.product.mul(x, x))


def converted(model: nn.Module, *example: Tensor) -> nn.Module:
    """With scales from observed data, as PyTorch's eager mode converts."""
    model.eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    for _ in range(4):
        prepared(*map(torch.randn_like, example))
    return quantization.convert(prepared)


def step_of(model: nn.Module) -> float:
    """The largest scale of a layer's result."""
    return max(float(m.scale) for m in model.modules() if isinstance(getattr(m, "scale", 0), float))


@pytest.mark.parametrize(
    ("kind", "shape"), [(Network, (4, 3, 12, 12)), (Signal, (4, 3, 21))], ids=["images", "signal"]
)
def test_layers_with_fixed_scales(kind: type[nn.Module], shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    example = torch.randn(shape)
    model = converted(kind(), example)
    # Eager computes in integers, and rounds between layers: a last digit may differ.
    program = assert_right(
        model, (example,), (example[:3],), dynamic_shapes=({0: Dim("batch")},), step=step_of(model)
    )
    operators = {node.op_type for node in program.model.graph}
    assert {"QuantizeLinear", "DequantizeLinear", "Conv"} <= operators
    model(example)


def small_bert() -> nn.Module:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        vocab_size=50,
    )  # fmt: skip
    return transformers.BertModel(config)


@pytest.mark.parametrize("dtype", [I8, torch.float16], ids=["int8", "float16"])
def test_layers_quantized_by_their_data(dtype: torch.dtype) -> None:
    layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    model = quantization.quantize_dynamic(layers, {nn.Linear}, dtype)
    data = [(torch.randn(batch, 8),) for batch in (5, 2)]
    assert_right(model, *data, dynamic_shapes=({0: Dim("batch")},))


@long_test(1)
def test_a_transformer_quantized_by_its_data() -> None:
    # A value halfway between two steps may go to either: none of this seed's is.
    torch.manual_seed(0)
    model = quantization.quantize_dynamic(small_bert().eval(), {nn.Linear}, I8)
    tokens = torch.randint(0, 50, (2, 7))
    program = sardonyx.export(
        model, (tokens,), dynamic_shapes={"input_ids": {0: Dim("batch"), 1: Dim("length")}}
    )
    with torch.no_grad():
        for shape in ((2, 7), (3, 5)):
            tokens = torch.randint(0, 50, shape)
            torch.testing.assert_close(program(tokens)[0], model(tokens)[0], atol=1e-5, rtol=0)
    kept = [v for v in program.model.graph.initializers.values() if v.dtype.name == "INT8"]
    assert sum(v.shape is not None and len(v.shape) == 2 for v in kept) >= 12


def by_channel(x: Tensor) -> Any:
    return torch.quantize_per_channel(x, torch.tensor([0.1, 0.2, 0.3]), torch.zeros(3), 0, I8)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: by_channel(x).t().dequantize(), "per channel are moved"),
        (
            lambda x: torch.cat([by_channel(x), by_channel(x)]).dequantize(),
            "Only per-tensor quantization is supported",  # PyTorch's own error
        ),
    ],
)
def test_what_would_be_wrong_is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(sardonyx.CaptureError, match=message):
        sardonyx.export(Of(function), (torch.randn(3, 3),))


def test_a_write_through_a_view_is_traced() -> None:
    def written(x: Tensor) -> Tensor:
        q = quantized_input(x)
        q.view(9)[2:7].relu_()
        return q.dequantize()

    assert_right(Of(written), (halves(3, 3),))


def test_what_has_no_capture_is_named() -> None:
    with pytest.raises(sardonyx.CaptureError, match="'cumsum' of a quantized tensor"):
        sardonyx.export(Of(lambda x: quantized_input(x).cumsum(0)), (torch.randn(3),))

"""Models of PyTorch's quantized tensors: scripted, traced and from the file.

Eager computes in integers and rounds between layers: where a sum lies within the rounding of
float32 of a tie, the last digit differs, so that answers may be one step of a layer's scale apart.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch
from onnx import TensorProto
from torch import Tensor, nn
from torch.ao import quantization
from torch.nn import functional as F

import sardonyx
from sardonyx._capture.quantized import rounding
from tests.models.test_quantized_tensors import Kept, Network, Signal, converted, halves, step_of

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch deprecates what is tested here


def compiled(program: Any, kind: str, example: Tensor) -> Any:
    return torch.jit.script(program) if kind == "script" else torch.jit.trace(program, example)


def models_of(program: Any, example: Tensor, dims: dict[int, str], folder: Path) -> list[Any]:
    """Of the live program and of its archive, which are alike where the installed PyTorch decides
    ties as it documents: nothing but PyTorch itself says how it does."""
    exported = sardonyx.export(program, (example,), dynamic_shapes=(dims,), verbose=False)
    program.save(str(folder / "model.pt"))
    converted = sardonyx.convert(folder / "model.pt", inputs=exported.captured.inputs)
    models = [exported.model_proto, converted.model_proto]
    if rounding.adds_before_rounding():
        assert models[0].SerializeToString() == models[1].SerializeToString()
    onnx.checker.check_model(models[0], full_check=True)
    return models


def assert_right(model: Any, wanted: Callable[..., Any], *inputs: Tensor, step: float = 0) -> None:
    session = ort.InferenceSession(model.SerializeToString())
    (name,) = (value.name for value in session.get_inputs())
    for x in inputs:
        expected = wanted(x)
        leaves = expected if isinstance(expected, (list, tuple)) else [expected]
        for got, want in zip(session.run(None, {name: x.numpy()}), leaves, strict=True):
            assert got.shape == tuple(want.shape)
            np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-5, atol=1e-6 + step)


class Fused(nn.Module):
    """Convolutions and linear layers with what PyTorch fuses into them."""

    def __init__(self) -> None:
        super().__init__()
        self.entry, self.exit = quantization.QuantStub(), quantization.DeQuantStub()
        self.first, self.norm, self.relu = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()
        self.padded = nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect")
        self.sum, self.leaky = nn.quantized.FloatFunctional(), nn.LeakyReLU(0.1)
        self.linear, self.last, self.sigmoid = nn.Linear(8, 6), nn.ReLU(), nn.Sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.norm(self.first(self.entry(x))))
        x = self.sum.add_relu(x, self.padded(x))
        x = F.max_pool2d(self.leaky(x), 2).mean([2, 3])
        return self.exit(self.sigmoid(self.last(self.linear(x))))


class Norms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.entry, self.exit = quantization.QuantStub(), quantization.DeQuantStub()
        self.conv, self.group = nn.Conv3d(2, 4, 3, padding=1), nn.GroupNorm(2, 4)
        self.layer, self.instance, self.elu = nn.LayerNorm(8), nn.InstanceNorm3d(4), nn.ELU()

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer(self.group(self.conv(self.entry(x))))
        return self.exit(self.elu(self.instance(x)))


def fused(model: nn.Module) -> nn.Module:
    groups = [["first", "norm", "relu"], ["linear", "last"]]
    return quantization.fuse_modules(model.eval(), groups)


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "network": (Network, (4, 3, 12, 12)),
    "signal": (Signal, (4, 3, 21)),
    "fused": (lambda: fused(Fused()), (3, 3, 10, 12)),
    "normalizations": (Norms, (2, 2, 4, 4, 8)),
}


@pytest.mark.parametrize("kind", ["script", "trace"])
@pytest.mark.parametrize("name", MODELS)
def test_layers_with_fixed_scales(name: str, kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    make, shape = MODELS[name]
    example = torch.randn(shape)
    model = converted(make(), example)
    program = compiled(model, kind, example)
    for made in models_of(program, example, {0: "batch"}, tmp_path)[:1]:
        assert_right(made, model, example, torch.randn(1, *shape[1:]), step=step_of(model))
        operators = {node.op_type for node in made.graph.node}
        assert {"QuantizeLinear", "DequantizeLinear", "Conv"} <= operators


def quantized(x: Tensor) -> Tensor:
    return torch.quantize_per_tensor(x, 0.25, 5, torch.quint8)


def pools(x: Tensor) -> list[Tensor]:
    q = quantized(x)
    return [
        torch.dequantize(F.adaptive_avg_pool2d(q, 2)),
        torch.dequantize(F.avg_pool2d(q, 2)),
        torch.dequantize(F.max_pool2d(q, 3, 2, 1)),
        torch.dequantize(q.mean([2, 3])),
        torch.dequantize(F.interpolate(q, scale_factor=2.0)),
        torch.dequantize(F.interpolate(q, size=[16, 4], mode="bilinear")),
    ]


def activations(x: Tensor) -> list[Tensor]:
    q = quantized(x)
    return [
        torch.dequantize(torch.relu(q)),
        torch.dequantize(F.relu6(q)),
        torch.dequantize(torch.clamp(q, -1.0, 2.0)),
        torch.dequantize(torch.clamp(q, min=-1.0)),
        torch.dequantize(F.hardtanh(q, -2.0, 1.0)),
        torch.dequantize(F.leaky_relu(q, 0.5)),
        torch.dequantize(torch.sigmoid(q)),
        torch.dequantize(torch.tanh(q)),
        torch.dequantize(F.relu(q.clone(), inplace=True)),
    ]


def places(x: Tensor) -> list[Tensor]:
    q = quantized(x)
    first, second = q.chunk(2, 1)
    parts = [torch.dequantize(part) for part in q.unbind(1)]
    return [
        torch.dequantize(q[1:, :, 0]),
        torch.dequantize(q.permute(0, 2, 3, 1).contiguous().view(-1, q.size(1)).t()),
        torch.dequantize(torch.cat([second, first], 1)),
        torch.dequantize(F.pad(q, [1, 2])),
        torch.dequantize(F.pad(q, [1, 2], value=1.5)),
        torch.dequantize(F.pad(q, [1, 2, 0, 1], mode="reflect")),
        q.int_repr().reshape(q.shape[0], -1) + q.q_zero_point(),
        parts[0] * q.q_scale(),
    ]


def written(x: Tensor) -> list[Tensor]:
    q = quantized(x)
    F.relu_(q.view(-1)[4:9])
    if q.is_quantized and q.dtype == torch.quint8 and not q.is_floating_point():
        F.relu(q[0], inplace=True)
    return [torch.dequantize(q)]


def by_data(x: Tensor) -> list[Tensor]:
    # 127 steps of 0.5: with a scale that is rounded itself, kernels with a fused multiply-add
    # decide ties in another way than those without.
    q = torch.quantize_per_tensor_dynamic(x.clamp(-31.75, 31.75), torch.quint8, True)
    scales, zeros = torch.tensor([0.25, 0.5, 0.1, 0.3]), torch.tensor([3, 0, -7, 1])
    c = torch.quantize_per_channel(x, scales, zeros, 1, torch.qint8)
    return [torch.dequantize(q), torch.dequantize(c), c.int_repr().float()]


TABLE = torch.quantize_per_channel(
    halves(4, 8), torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.arange(4), 0, torch.qint8
)


def constants(x: Tensor) -> list[Tensor]:
    return [torch.dequantize(TABLE)[:, :, None] + x]


FUNCTIONS = [pools, activations, places, written, by_data]
CASES = [(f, kind) for kind in ("script", "trace") for f in FUNCTIONS] + [(constants, "trace")]


@pytest.mark.parametrize(("function", "kind"), CASES)
def test_functions(function: Callable[..., Any], kind: str, tmp_path: Path) -> None:
    example = halves(2, 4, 8, 8)
    program = compiled(function, kind, example)
    (model, _) = models_of(program, example, {0: "batch"}, tmp_path)
    assert_right(model, function, example, halves(5, 4, 8, 8))


@torch.jit.script
def branches(x: Tensor) -> Tensor:
    """Both branches quantize, with different scales, and a loop follows."""
    if bool(x.sum() > 0):
        q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
    else:
        q = torch.quantize_per_tensor(x, 0.2, 7, torch.quint8)
    for _ in range(x.size(0)):
        q = torch.relu(q)
    return torch.dequantize(q)


def test_quantized_tensors_of_branches(tmp_path: Path) -> None:
    example = torch.rand(2, 4, 8)
    model, _ = models_of(branches, example, {0: "n"}, tmp_path)
    assert_right(model, branches, example, -torch.rand(3, 4, 8), torch.rand(1, 4, 8) - 0.4)


class Own(nn.Module):
    """Packed weights among a module's own attributes."""

    def __init__(self) -> None:
        super().__init__()
        weight = torch.quantize_per_tensor(torch.randn(4, 3, 3, 3), 0.1, 0, torch.qint8)
        prepack = torch.ops.quantized.conv2d_prepack
        self.packed = prepack(weight, torch.randn(4), [1, 2], [1, 0], [1, 1], 1)

    def forward(self, x: Tensor) -> Tensor:
        q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
        return torch.dequantize(torch.ops.quantized.conv2d(q, self.packed, 0.2, 4))


@pytest.mark.parametrize("make", [Own, Kept])
def test_packed_and_quantized_attributes(make: Callable[[], nn.Module], tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = make()
    example = torch.randn(2, 3) if make is Kept else torch.randn(2, 3, 6, 7)
    for kind in ("script", "trace"):
        program = compiled(model, kind, example)
        (made, _) = models_of(program, example, {0: "n"}, tmp_path)
        assert_right(made, model, example, example[:1], step=0.2 if make is Own else 0)


class Restored(nn.Module):
    """A module with code of its own for what is saved of it."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.weight = 2.0, nn.Parameter(torch.randn(3))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight * self.scale

    @torch.jit.export
    def __getstate__(self) -> tuple[float, Tensor, bool]:
        return self.scale, self.weight * 3, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[float, Tensor, bool]) -> None:
        self.scale = state[0] * 2
        self.weight = state[1]
        self.training = state[2]


def test_modules_that_restore_themselves(tmp_path: Path) -> None:
    """The archive's code is followed, so that what the file holds is what loading it gives."""
    torch.manual_seed(0)
    program = torch.jit.script(Restored())
    program.save(str(tmp_path / "model.pt"))
    x = torch.randn(2, 3)
    loaded = torch.jit.load(str(tmp_path / "model.pt"))
    model = sardonyx.convert(tmp_path / "model.pt", inputs=["x:float32[n,3]"]).model_proto
    assert_right(model, loaded, x, torch.randn(4, 3))


def assert_parts(ours: Any, quantized: torch.Tensor) -> None:
    torch.testing.assert_close(ours[0], quantized.int_repr(), atol=1, rtol=0)
    assert ours[1].item() == pytest.approx(quantized.q_scale())
    assert ours[2].item() == quantized.q_zero_point()
    assert ours[2].dtype == quantized.int_repr().dtype


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize("scripted", [True, False])
def test_a_quantized_result_is_its_integers_scale_and_zero_point(
    dynamo: bool, scripted: bool
) -> None:
    program: Any = torch.jit.script(quantized) if scripted else quantized
    x = torch.randn(3)
    assert_parts(sardonyx.export(program, (x,), dynamo=dynamo)(x), quantized(x))


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize("scripted", [True, False])
def test_a_quantized_input_is_its_integers_scale_and_zero_point(
    dynamo: bool, scripted: bool
) -> None:
    layer = torch.ao.nn.quantized.Conv2d(3, 4, 3)
    layer.scale = 0.05
    x = torch.quantize_per_tensor(torch.randn(1, 3, 6, 6), 0.1, 128, torch.quint8)
    other = torch.quantize_per_tensor(torch.randn(1, 3, 6, 6), 0.07, 100, torch.quint8)
    program: Any = torch.jit.script(layer) if scripted else layer
    model = sardonyx.export(program, (x,), dynamo=dynamo, verify=True)
    names = [i.name for i in model.model_proto.graph.input]
    assert names == ["input", "input_scale", "input_zero_point"]
    # The older exporter has them in float64 and int64.
    expected = [TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8]
    wide = [TensorProto.UINT8, TensorProto.DOUBLE, TensorProto.INT64]
    dtypes = [i.type.tensor_type.elem_type for i in model.model_proto.graph.input]
    assert dtypes == (expected if dynamo else wide)
    for each in (x, other):
        assert_parts(model(each), layer(each))


def test_bounds_and_views_of_a_quantized_input() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return nn.functional.hardtanh(x), x.clamp(max=0.7), x.as_strided((2, 2), (1, 2))

    x = torch.quantize_per_tensor(torch.randn(2, 4), 0.26, 128, torch.quint8)
    other = torch.quantize_per_tensor(torch.randn(2, 4), 0.07, 100, torch.quint8)
    model = sardonyx.export(torch.jit.trace(function, (x,)), (x,), dynamo=False)
    for each in (x, other):
        ours = model(each)
        for index, expected in enumerate(function(each)):
            assert_parts(ours[3 * index : 3 * index + 3], expected)

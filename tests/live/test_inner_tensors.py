"""Weights of tensor subclasses that hold plain tensors, as torchao's quantized weights do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import sardonyx
from tests.harness import difference


class Scaled(torch.Tensor):
    """Codes with a scale for each row, which linear() reads."""

    codes: torch.Tensor
    scale: torch.Tensor

    @staticmethod
    def __new__(cls, codes: torch.Tensor, scale: torch.Tensor) -> Any:
        make: Any = torch.Tensor._make_wrapper_subclass
        made = make(cls, codes.shape, dtype=scale.dtype, requires_grad=False)
        made.codes, made.scale = codes, scale
        return made

    def __tensor_flatten__(self) -> tuple[list[str], Any]:
        return ["codes", "scale"], None

    @staticmethod
    def __tensor_unflatten__(parts: Any, context: Any, size: Any, stride: Any) -> Scaled:
        return Scaled(parts["codes"], parts["scale"])

    def dense(self) -> torch.Tensor:
        return self.codes.to(self.scale.dtype) * self.scale

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function is torch.nn.functional.linear:
            x, weight, *bias = args
            return torch.nn.functional.linear(x, weight.dense(), *bias)
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        weight = args[0]
        if function is torch.ops.aten.detach.default:
            return Scaled(weight.codes, weight.scale)
        raise NotImplementedError(function)


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    made = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
    for layer in (made[0], made[2]):
        codes = torch.randint(-9, 9, layer.weight.shape, dtype=torch.int8)
        scale = torch.rand(len(codes), 1)
        layer.weight = torch.nn.Parameter(Scaled(codes, scale), requires_grad=False)
    return made.eval()


def of_module(subject: torch.nn.Module, x: torch.Tensor) -> Any:
    return sardonyx.export(subject, (x,), dynamic_shapes=({0: "batch"},))


def of_program(subject: torch.nn.Module, x: torch.Tensor) -> Any:
    dims = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(subject, (x,), dynamic_shapes=dims)
    nodes = [node.name for node in program.graph.nodes]
    made = sardonyx.convert(program)
    assert [node.name for node in program.graph.nodes] == nodes  # the user's program is kept
    return made


@pytest.mark.parametrize("exported", [of_module, of_program])
def test_plain_tensors_are_the_weights(exported: Callable[..., Any]) -> None:
    subject = model()
    made = exported(subject, torch.randn(3, 6))
    for rows in (1, 5):
        x = torch.randn(rows, 6)
        with torch.no_grad():
            expected = subject(x)
        assert difference(torch.as_tensor(made(x)[0]), expected) is None


def test_weights_have_the_names_of_their_parts() -> None:
    made = sardonyx.export(model(), (torch.randn(3, 6),), optimize=False)
    names = {each.name for each in made.model_proto.graph.initializer}
    assert {"0.weight.codes", "0.weight.scale", "2.weight.codes"} <= names

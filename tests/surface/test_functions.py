"""export_modules_as_functions: modules as model-local functions."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
import torch

import sardonyx
from tests.harness import assert_exports


class Block(torch.nn.Module):
    def __init__(self, size: int, slope: float = 0.1) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(size)
        self.fc = torch.nn.Linear(size, size)
        self.act = torch.nn.LeakyReLU(slope)

    def forward(self, x):
        return x + self.act(self.fc(self.norm(x)))


class Stack(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(4), Block(4), Block(4, 0.3)])
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


X = torch.randn(3, 4)
SHAPES = ({0: "batch"},)


def functions(model: onnx.ModelProto) -> dict[str, onnx.FunctionProto]:
    return {f"{f.domain}::{f.name}": f for f in model.functions}


def test_one_function_for_each_class_and_configuration() -> None:
    exported = assert_exports(
        Stack(),
        (X,),
        dynamic_shapes=SHAPES,
        other_inputs=[(torch.randn(7, 4),)],
        capture_first=False,
        export_modules_as_functions=True,
    )
    model = exported.model
    onnx.checker.check_model(model, full_check=True)
    found = functions(model)
    here = __name__
    assert set(found) == {
        "torch.nn.modules.normalization::LayerNorm",
        "torch.nn.modules.linear::Linear",
        "torch.nn.modules.activation::LeakyReLU",
        "torch.nn.modules.activation::LeakyReLU.1",
        f"{here}::Block",
        f"{here}::Block.1",
    }
    nodes = model.graph.node
    assert [node.op_type for node in nodes] == ["Block", "Block", "Block.1", "Linear"]
    assert [node.name for node in nodes] == ["blocks.0", "blocks.1", "blocks.2", "head"]
    linear = found["torch.nn.modules.linear::Linear"]
    assert list(linear.input)[1:] == ["weight", "bias"]
    block = found[f"{here}::Block"]
    assert list(block.input)[1:] == ["norm.weight", "norm.bias", "fc.weight", "fc.bias"]
    assert [node.op_type for node in block.node] == ["LayerNorm", "Linear", "LeakyReLU", "Add"]


def test_the_classes_that_are_asked_for() -> None:
    exported = assert_exports(
        Stack(), (X,), capture_first=False, export_modules_as_functions={torch.nn.Linear}
    )
    assert set(functions(exported.model)) == {"torch.nn.modules.linear::Linear"}
    assert exported.operators.count("Linear") == 4
    weights = {tensor.name for tensor in exported.model.graph.initializer}
    assert "blocks.1.fc.weight" in weights


@pytest.mark.parametrize("asked", [3, "Linear", {"Linear"}, [torch.nn.Linear(1, 1)]])
def test_anything_else_is_refused(asked: Any) -> None:
    with pytest.raises(sardonyx.UsageError):
        sardonyx.export(Stack(), (X,), export_modules_as_functions=asked)


def test_opsets_without_functions_are_refused() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match="opset 15"):
        sardonyx.export(Stack(), (X,), opset_version=14, export_modules_as_functions=True)


class Recurring(torch.nn.Module):
    """One module called twice, and sizes that both calls use."""

    def __init__(self) -> None:
        super().__init__()
        self.split = Heads()
        self.fc = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(self.fc(self.split(self.split(x) + x)))


class Heads(torch.nn.Module):
    def forward(self, x):
        y = x.view(x.shape[0], x.shape[1], 2, 4).transpose(1, 2)
        return y.softmax(-1).transpose(1, 2).reshape(x.shape[0], x.shape[1], 8)


def test_calls_of_one_module_share_its_function() -> None:
    exported = assert_exports(
        Recurring(),
        (torch.randn(2, 3, 8),),
        dynamic_shapes=({0: "batch", 1: "length"},),
        other_inputs=[(torch.randn(1, 5, 8),)],
        capture_first=False,
        export_modules_as_functions=True,
    )
    kept = [name for name in exported.operators if name in ("Heads", "Linear")]
    assert kept == ["Heads", "Heads", "Linear", "Linear"]
    assert len(exported.model.functions) == 2


def test_a_module_in_two_places_has_one_function() -> None:
    linear = torch.nn.Linear(4, 4)
    exported = assert_exports(
        torch.nn.Sequential(linear, torch.nn.ReLU(), linear),
        (X,),
        capture_first=False,
        export_modules_as_functions=True,
    )
    assert exported.operators == ["Linear", "ReLU", "Linear"]
    (found,) = [f for f in exported.model.functions if f.name.startswith("Linear")]
    assert list(found.input)[1:] == ["weight", "bias"]


class Branching(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        self.inner = Choice()

    def forward(self, x):
        return self.b(self.inner(self.a(x)))


class Choice(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.relu() + 1, lambda x: x * 2, (x,))


def test_bodies_of_control_flow() -> None:
    exported = assert_exports(
        Branching(),
        (torch.randn(3, 4),),
        other_inputs=[(-torch.ones(3, 4),)],
        capture_first=False,
        export_modules_as_functions=True,
    )
    assert "Choice" in {function.name for function in exported.model.functions}


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 10, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        hidden = self.embed(ids)
        return self.head(hidden), hidden


def test_tied_weights_stay_one() -> None:
    exported = assert_exports(
        Tied(),
        (torch.tensor([[1, 2, 3]]),),
        capture_first=False,
        export_modules_as_functions=True,
    )
    assert len(exported.model.graph.initializer) == 1


def test_weights_can_still_be_applied() -> None:
    program = sardonyx.export(Stack(), (X,), export_modules_as_functions=True)
    other = Stack()
    program.apply_weights(other.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(program(X)[0], other(X), rtol=1e-4, atol=1e-5)
    assert any("::Block" in name for name in program.function_names)
    program.model.graph.name = "edited"  # and functions survive the way through onnx_ir
    torch.testing.assert_close(program(X)[0], other(X).detach(), rtol=1e-4, atol=1e-5)

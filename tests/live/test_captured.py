"""What may be exported: modules, functions, methods, and models that torch.export refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import sardonyx

X = torch.randn(2, 4)


class Encoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def encode(self, image: torch.Tensor, *, scale: float = 2.0) -> torch.Tensor:
        return self.linear(image) * scale


def test_functions_and_bound_methods() -> None:
    model = Encoder().eval()
    image = torch.randn(5, 3)
    of_method = sardonyx.export(
        model.encode, (image,), kwargs={"scale": 0.5}, dynamic_shapes={"image": {0: "batch"}}
    )
    assert of_method.input_names == ["image"]
    assert [name for name in of_method.model.graph.initializers if "weight" in name]
    other = torch.randn(2, 3)
    torch.testing.assert_close(of_method(other)[0], model.encode(other, scale=0.5))
    of_function = sardonyx.export(lambda x: model.encode(x).relu(), (image,))
    torch.testing.assert_close(of_function(image)[0], model.encode(image).relu())
    assert list(model.modules()) == [model, model.linear]


def test_functions_without_a_signature() -> None:
    """Those that PyTorch has in C++."""
    x, q = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.5])
    program = sardonyx.export(torch.special.zeta, (x, q))
    assert program.input_names == ["args_0", "args_1"]
    torch.testing.assert_close(program(x, q)[0], torch.special.zeta(x, q))


class Looping(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        for _ in range(int((x > -9).sum(1)[0])):
            x = self.linear(x)
        return x.view(x.shape[0], -1) + bias


def test_traced_where_torch_export_does_not_capture() -> None:
    model = Looping().eval()
    inputs = torch.ones(3, 4), torch.randn(4)
    with pytest.raises(sardonyx.CaptureError, match=r"in range\(int\(\(x > -9"):
        sardonyx.export(model, inputs)
    with (
        pytest.warns(DeprecationWarning, match="dynamo is deprecated"),
        pytest.warns(torch.jit.TracerWarning, match="Python integer"),
    ):
        program = sardonyx.export(
            model, inputs, kwargs={}, dynamo=False, dynamic_shapes={"x": {0: "batch"}, "bias": None}
        )
    assert program.input_names == ["x", "bias"]
    others = torch.rand(5, 4), torch.randn(4)
    torch.testing.assert_close(program(*others)[0], model(*others))


def test_dynamo_false_captures_with_torch_export_where_it_can() -> None:
    with pytest.warns(DeprecationWarning, match="dynamo is deprecated"):
        program = sardonyx.export(torch.nn.ReLU(), (X,), dynamo=False)
    assert str(program) == str(sardonyx.export(torch.nn.ReLU(), (X,)))


@pytest.mark.parametrize("thing", [None, 3, Encoder, "model.pt2"], ids=str)
def test_what_takes_no_input(thing: Any) -> None:
    with pytest.raises(sardonyx.UsageError, match="not a module or a function"):
        sardonyx.export(thing, (X,))


def test_a_size_as_a_tensor() -> None:
    """As many as there are, ten at most, as detectors choose candidates."""

    class Best(torch.nn.Module):
        def forward(self, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            count = torch._shape_as_tensor(scores)[1].clamp(max=3)
            return torch.topk(scores, count, 1).values, torch._shape_as_tensor(scores.sum())

    dims = {0: torch.export.Dim("batch"), 1: torch.export.Dim("candidates")}
    program = sardonyx.export(Best(), (torch.randn(4, 6),), dynamic_shapes=(dims,))
    for sizes in ((2, 7), (3, 2), (1, 1)):
        scores = torch.randn(sizes)
        for ours, theirs in zip(program(scores), Best()(scores), strict=True):
            torch.testing.assert_close(ours, theirs)


def test_a_captured_size_that_constants_contradict_is_refused() -> None:
    class Counted(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            counts = torch.bincount(torch.arange(1))
            return counts > x  # torch.export takes it that there are three counts

    x = torch.randn(3)
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1306.*to be 3.*it is 1"):
        sardonyx.export(Counted(), (x,), capture="torch")
    # Fake-tensor tracing computes what depends on constants alone.
    torch.testing.assert_close(sardonyx.export(Counted(), (x,))(x)[0], Counted()(x))

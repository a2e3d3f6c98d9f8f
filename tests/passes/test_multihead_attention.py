"""torch's MultiheadAttention, whose products have the length first whatever stands outside: without
transpositions that undo each other, at other sizes than it was exported for."""

from __future__ import annotations

import io

import onnx
import pytest
import torch

import sardonyx
from tests.harness import Session


class Attended(torch.nn.Module):
    """Heads of `x` that attend to `y`, or to each other."""

    def __init__(self, batch_first: bool, weights: bool) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(24, 3, batch_first=batch_first)
        self.weights = weights

    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        y = x if y is None else y
        return self.attention(x, y, y, need_weights=self.weights)[0]


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize(
    ("batch_first", "weights", "inputs", "most"),
    [
        (True, True, 1, (17, 6)),
        (True, False, 2, (19, 9)),
        (False, False, 1, (17, 8)),
        (False, True, 2, (19, 12)),
    ],
)
def test_nothing_is_transposed_twice(
    batch_first: bool, weights: bool, inputs: int, most: tuple[int, int]
) -> None:
    torch.manual_seed(0)
    model = Attended(batch_first, weights).eval()
    torch.nn.init.normal_(model.attention.in_proj_bias)

    def sample(batch: int, length: int) -> torch.Tensor:
        return torch.randn(*((batch, length) if batch_first else (length, batch)), 24)

    sizes = {0: "b", 1: "s"} if batch_first else {0: "s", 1: "b"}
    other = {axis: "t" if name == "s" else name for axis, name in sizes.items()}
    args = (sample(2, 5), sample(2, 4))[:inputs]
    program = sardonyx.export(model, args, dynamic_shapes=(sizes, other)[:inputs], opset_version=17)
    older = program.model_proto
    newer = sardonyx.optimize(older, opset=23).model
    for made, count in zip((older, newer), most, strict=True):
        onnx.checker.check_model(made, full_check=True)
        assert len(operators(made)) <= count, operators(made)
        session = Session(made.SerializeToString())
        for batch, length in ((2, 5), (1, 1), (3, 7)):
            args = (sample(batch, length), sample(batch, length + 2))[:inputs]
            torch.testing.assert_close(session.run(args)[0], model(*args), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("batch_first", [True, False])
def test_as_the_older_exporter_traces_it(batch_first: bool) -> None:
    torch.manual_seed(0)
    model, x = Attended(batch_first, True).eval(), torch.randn(3, 4, 24)
    file = io.BytesIO()
    torch.onnx.export(model, (x,), file, dynamo=False, opset_version=17)
    given = onnx.load_from_string(file.getvalue())
    for opset, most in ((17, 15), (23, 7)):
        optimized = sardonyx.optimize(given, opset=opset).model
        assert len(operators(optimized)) <= most, operators(optimized)
        got = Session(optimized.SerializeToString()).run([x])[0]
        torch.testing.assert_close(got, model(x), atol=1e-5, rtol=1e-4)

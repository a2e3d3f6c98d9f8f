"""If, Loop and Scan whose bodies are Python functions of a translator."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
import torch
from torch import nn

import sardonyx
from sardonyx import op
from tests.harness import assert_exports

X = torch.randn(4, 3)


@torch.library.custom_op("custom_bodies::own", mutates_args=())
def own(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.sum() > 0, x.relu(), x.neg() * 2)


@own.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


class Own(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return own(x + 1) * 2


def exported(translate: Any, **options: Any) -> Any:
    return sardonyx.export(Own(), (X,), custom_translation_table={own: translate}, **options)


def test_if() -> None:
    def translate(x: Any) -> Any:
        return op.If(
            op.ReduceSum(x, keepdims=0) > 0.0,
            then_branch=lambda: op.Relu(x),
            else_branch=lambda: op.Neg(x) * 2.0,
        )

    assert_exports(
        Own(), (X,), dynamic_shapes={"x": {0: torch.export.Dim("n")}},
        other_inputs=[(torch.ones(2, 3),), (-torch.ones(5, 3) * 3,)],
        custom_translation_table={own: translate}, capture_first=False,
    )  # fmt: skip


def test_loop_carries_on_and_collects() -> None:
    def translate(x: Any) -> Any:
        def body(i: Any, _go: Any, total: Any) -> Any:
            return True, total + x, op.Cast(i, to=torch.float32)

        total, collected = op.Loop(3, True, op.Mul(x, 0.0), body=body)
        return op.Add(total, op.ReduceSum(collected, keepdims=0))

    program = exported(translate)
    torch.testing.assert_close(program(X)[0], ((X + 1) * 3 + 3) * 2)
    onnx.checker.check_model(program.model_proto, full_check=True)


def test_scan_goes_along_an_axis() -> None:
    def translate(x: Any) -> Any:
        def body(total: Any, column: Any) -> Any:
            total = total + column
            return total, total

        start = op.ReduceSum(x * 0.0, [1], keepdims=0)
        _, sums = op.Scan(
            start, x, body=body, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1]
        )
        return sums

    for dynamic in (None, {"x": {0: torch.export.Dim("n")}}):
        program = exported(translate, dynamic_shapes=dynamic)
        torch.testing.assert_close(program(X)[0], (X + 1).cumsum(1) * 2)


def test_a_body_in_a_body() -> None:
    def translate(x: Any) -> Any:
        def step(i: Any, _go: Any, total: Any) -> Any:
            return True, op.If(
                op.Equal(i, 0), then_branch=lambda: total + 1.0, else_branch=lambda: total + x
            )

        return op.Loop(2, None, x, body=step)

    torch.testing.assert_close(exported(translate)(X)[0], ((X + 1) * 2 + 1) * 2)


def changing(x: Any) -> Any:
    return op.Loop(2, True, x, body=lambda _i, _go, t: (True, op.Concat(t, x, axis=0)))


def uneven(x: Any) -> Any:
    return op.If(True, then_branch=lambda: x, else_branch=lambda: (x, x))


def raising(x: Any) -> Any:
    def body() -> Any:
        raise KeyError("in the body")

    return op.If(True, then_branch=body, else_branch=lambda: x)


@pytest.mark.parametrize(
    ("translate", "message"),
    [
        (changing, "set_type"),
        (uneven, "give 1 and 2 values|give 2 and 1 values"),
        (raising, "in the body"),
        (lambda x: op.If(True, then_branch=lambda: x), "else_branch"),
        (lambda x: op.Relu(x, slope=lambda: x), "no attribute slope"),
    ],
)
def test_mistakes(translate: Any, message: str) -> None:
    with pytest.raises(sardonyx.ConversionError, match=message):
        exported(translate)


def test_sizes_that_change_are_declared() -> None:
    def translate(x: Any) -> Any:
        def body(_i: Any, _go: Any, rows: Any) -> Any:
            rows.set_type(None, [None, 3])
            return True, op.Concat(rows, x, axis=0)

        return op.Slice(op.Loop(2, True, x, body=body), [0], [4])

    torch.testing.assert_close(exported(translate)(X)[0], (X + 1) * 2)

"""torch.autograd.Function: with a `symbolic`, inlined, or kept as one node."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
import torch
from torch import nn

import sardonyx
from tests.harness import assert_exports

X = torch.randn(2, 3)


class MyRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def symbolic(g: Any, input: Any) -> Any:  # noqa: A002
        return g.op("Clip", input, g.op("Constant", value_t=torch.tensor(0, dtype=torch.float)))


class MyLogExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        ctx.save_for_backward(input)
        h = input.exp()
        return h.log().log()


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor, factor: float, name: str, both: bool = True) -> Any:
        return x * factor, x + factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    @staticmethod
    def symbolic(g: Any, x: Any, factor: float, name: str, both: bool = True) -> Any:
        assert (name, both) == ("n", True)
        return g.op("my::Scale", x, factor_f=factor, outputs=2)


class ByKeyword(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> Any:
        return x + y * alpha

    @staticmethod
    def symbolic(g: Any, x: Any, y: Any, alpha: float = 1.0) -> Any:
        return g.op("Add", x, g.op("Mul", y, g.op("Constant", value_t=torch.tensor(alpha))))


bound, bound_scale, bound_log = MyRelu.apply, Scale.apply, MyLogExp.apply


def applied(function: Any) -> Any:
    """Its apply(), looked up when it is called, as most models do."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function.apply(*args, **kwargs)

    return call


class Applies(nn.Module):
    def __init__(self, function: Any, *rest: Any) -> None:
        super().__init__()
        self.function, self.rest = function, rest

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x + 1, *self.rest)


def nodes(program: sardonyx.ONNXProgram) -> list[onnx.NodeProto]:
    return list(program.model_proto.graph.node)


@pytest.mark.parametrize("apply", [applied(MyRelu), bound])
def test_a_static_symbolic_method(apply: Any) -> None:
    exported = assert_exports(
        Applies(apply), (X,), dynamic_shapes={"x": {0: torch.export.Dim("n")}},
        other_inputs=[(torch.randn(5, 3),)], capture_first=False,
    )  # fmt: skip
    assert exported.operators == ["Add", "Clip"]


def test_an_apply_that_was_bound_is_kept_with_all_that_it_is_given() -> None:
    own = vars(Scale)["forward"]
    program = sardonyx.export(Applies(bound_scale, 2.5, "n"), (X,))
    assert [n.op_type for n in nodes(program)] == ["Add", "Scale"]
    program = sardonyx.export(Applies(bound_log), (X.abs() + 1,), autograd_inlining=False)
    assert [n.op_type for n in nodes(program)] == ["Add", "PythonOp"]
    program = sardonyx.export(Applies(bound_log), (X.abs() + 1,))
    assert [n.op_type for n in nodes(program)] == ["Add", "Exp", "Log", "Log"]
    assert vars(Scale)["forward"] is own


def test_several_outputs_and_arguments_that_are_no_tensors() -> None:
    program = sardonyx.export(Applies(applied(Scale), 2.5, "n"), (X,))
    _, node = nodes(program)
    assert (node.domain, node.op_type, len(node.output)) == ("my", "Scale", 2)
    assert onnx.helper.get_node_attr_value(node, "factor") == 2.5
    # Another constant is another operator.
    _, node = nodes(sardonyx.export(Applies(applied(Scale), 3.5, "n"), (X,)))
    assert onnx.helper.get_node_attr_value(node, "factor") == 3.5


def test_arguments_by_keyword() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return ByKeyword.apply(x, alpha=3.0, y=x.relu())

    exported = assert_exports(Model(), (X,), capture_first=False)
    assert exported.operators == ["Relu", "Mul", "Add"]


def test_inlined() -> None:
    """The example of the page."""
    program = sardonyx.export(Applies(applied(MyLogExp)), (X.abs() + 1,))
    assert [n.op_type for n in nodes(program)] == ["Add", "Exp", "Log", "Log"]


@pytest.mark.parametrize(
    "options",
    [
        {"autograd_inlining": False},
        {"operator_export_type": sardonyx.OperatorExportTypes.ONNX_FALLTHROUGH},
        {"operator_export_type": sardonyx.OperatorExportTypes.ONNX_ATEN_FALLBACK},
    ],
    ids=str,
)
def test_kept_as_one_node(options: dict[str, Any]) -> None:
    with pytest.warns(DeprecationWarning, match=next(iter(options))):
        program = sardonyx.export(Applies(applied(MyLogExp)), (X,), **options)
    add, node = nodes(program)
    assert (add.op_type, node.domain, node.op_type) == ("Add", "prim", "PythonOp")
    assert onnx.helper.get_node_attr_value(node, "name") == b"MyLogExp"
    (output,) = program.model_proto.graph.output
    assert [d.dim_value for d in output.type.tensor_type.shape.dim] == [2, 3]


def test_a_symbolic_function_for_all_of_them() -> None:
    def symbolic_python_op(g: Any, *args: Any, **kwargs: Any) -> Any:
        return g.op("my::" + kwargs["name"], *args)

    sardonyx.register_custom_op_symbolic("prim::PythonOp", symbolic_python_op, 1)
    try:
        with pytest.warns(DeprecationWarning, match="autograd_inlining"):
            program = sardonyx.export(Applies(applied(MyLogExp)), (X,), autograd_inlining=False)
    finally:
        sardonyx.unregister_custom_op_symbolic("prim::PythonOp", 1)
    assert nodes(program)[1].op_type == "MyLogExp"


def test_functions_are_themselves_outside_of_exports() -> None:
    assert torch.equal(MyRelu.apply(X), X.clamp(min=0))
    x = X.clone().requires_grad_()
    assert MyLogExp.apply(x).shape == X.shape
    from torch.autograd.function import _SingleLevelFunction

    assert "apply" not in vars(_SingleLevelFunction)


def test_what_runs_eagerly_is_the_function() -> None:
    program = sardonyx.export(Applies(applied(MyRelu)), (X,), verify=True)
    assert program.exported_program is not None
    torch.testing.assert_close(program.exported_program.module()(X), (X + 1).relu())

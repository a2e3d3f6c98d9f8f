"""Custom translators: tables, registries, symbolic functions, onnxscript functions."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnxscript
import pytest
import torch
from onnxscript import opset15, opset20
from torch import nn

import sardonyx
from sardonyx import op
from tests.harness import assert_exports

X = torch.randn(2, 3)


@torch.library.custom_op("custom_tests::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float = 2.0, *, offset: int = 0) -> torch.Tensor:
    return x * factor + offset


@scaled.register_fake
def _(x: torch.Tensor, factor: float = 2.0, *, offset: int = 0) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("custom_tests::halves", mutates_args=())
def halves(x: torch.Tensor, names: str, sizes: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    return x / 2, x[: sizes[0]] * 0.5


@halves.register_fake
def _(x: torch.Tensor, names: str, sizes: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty_like(x), x.new_empty((sizes[0], *x.shape[1:]))


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.custom_tests.scaled(x, 3.0, offset=1) + 1


class Gelu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.gelu(x)


def translate_scaled(x: Any, factor: float = 2.0, *, offset: int = 0) -> Any:
    return op.Add(op.Mul(x, factor), offset)


TABLE = {torch.ops.custom_tests.scaled.default: translate_scaled}


# --- plain functions


@pytest.mark.parametrize(
    "target",
    [torch.ops.custom_tests.scaled.default, torch.ops.custom_tests.scaled, scaled,
     "custom_tests::scaled", "custom_tests::scaled.default"],
    ids=["overload", "packet", "definition", "name", "full name"],
)  # fmt: skip
def test_an_operator_of_ones_own(target: Any) -> None:
    exported = assert_exports(
        Scaled(), (X,), dynamic_shapes={"x": {0: torch.export.Dim("n")}},
        other_inputs=[(torch.randn(5, 3),)], custom_translation_table={target: translate_scaled},
    )  # fmt: skip
    assert set(exported.operators) == {"Mul", "Add"}


def test_without_a_translator_the_message_says_what_to_do() -> None:
    with pytest.raises(sardonyx.UnsupportedOperatorError) as failure:
        sardonyx.export(Scaled(), (X,))
    found = failure.value.diagnostics[0]
    assert (found.code, found.op) == ("SX1300", "custom_tests::scaled")
    assert "custom_translation_table" in found.help
    assert "--plugin" in found.help
    assert found.file == __file__


def test_from_a_file(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(Scaled(), (X,)), tmp_path / "m.pt2")
    program = sardonyx.convert(
        str(tmp_path / "m.pt2"), custom_translation_table={"custom_tests::scaled": translate_scaled}
    )
    torch.testing.assert_close(program(X)[0], Scaled()(X))
    with pytest.raises(sardonyx.UnsupportedOperatorError, match="custom_tests::scaled"):
        sardonyx.convert(str(tmp_path / "m.pt2"))


def test_several_outputs_and_every_kind_of_argument() -> None:
    seen: list[Any] = []

    def translate(x: Any, *rest: Any) -> Any:
        seen.extend(rest)
        half = x * 0.5
        return half, op.Slice(half, [0], [rest[1][0]])

    class Halves(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return torch.ops.custom_tests.halves(x, "ab", [1, 2])

    assert_exports(Halves(), (X,), custom_translation_table={halves: translate})
    assert seen == ["ab", [1, 2]]


def test_a_translator_stands_above_the_librarys() -> None:
    def translate(x: Any) -> Any:  # has no parameter for `approximate`, which is the default
        return op.Identity(op.Relu(x))

    program = sardonyx.export(
        Gelu(), (X,), custom_translation_table={torch.ops.aten.gelu.default: translate}
    )
    torch.testing.assert_close(program(X)[0], X.relu())


def test_an_argument_that_a_translator_does_not_take() -> None:
    class Tanh(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.gelu(x, approximate="tanh")

    with pytest.raises(sardonyx.ConversionError, match="takes no argument 'approximate'"):
        sardonyx.export(
            Tanh(), (X,), custom_translation_table={torch.ops.aten.gelu.default: lambda x: x}
        )


def test_symbolic_numbers() -> None:
    class Sum(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(x.shape[0] * x.shape[1])

    table = {torch.ops.aten.reshape.default: lambda x, shape: op.Reshape(x, op.Concat(
        *[op.Unsqueeze(s, [0]) for s in shape], axis=0))}  # fmt: skip
    assert_exports(
        Sum(), (X,), dynamic_shapes={"x": {0: torch.export.Dim("n"), 1: torch.export.Dim("m")}},
        other_inputs=[(torch.randn(4, 7),)], custom_translation_table=table,
    )  # fmt: skip
    with pytest.raises(sardonyx.UsageError, match="no operator"):
        sardonyx.export(Sum(), (X,), custom_translation_table={3: max})
    assert sardonyx.convert(
        torch.export.export(Sum(), (X,)), custom_translation_table={operator.mul: op.Mul}
    )


def test_what_goes_wrong_in_a_translator_is_told_with_its_place() -> None:
    def broken(_x: Any) -> Any:
        raise KeyError("nothing here")

    with pytest.raises(sardonyx.ConversionError) as failure:
        sardonyx.export(Gelu(), (X,), custom_translation_table={torch.ops.aten.gelu: broken})
    found = failure.value.diagnostics[0]
    assert (found.code, found.op) == ("SX1305", "aten::gelu")
    assert "nothing here" in found.message
    assert __file__ in found.help
    assert isinstance(failure.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("translate", "message"),
    [
        (lambda x: op.Nothing(x, x), "no operator Nothing"),
        (lambda x: op.Gather(x, [0], axes=1), "no attribute axes"),
        (lambda x: op.Relu(x, x), "takes 1 inputs"),
        (lambda x: op.Concat(x, axis="first"), "attribute 'axis'"),
        (op.Concat, "needs its attribute `axis`"),
        (lambda x: "text", "expected"),
        (lambda x: op.Cast(x, to=torch.int64), "SX1304"),
        (lambda x: None, "SX1304|gives no output"),
    ],
)
def test_mistakes(translate: Any, message: str) -> None:
    with pytest.raises(sardonyx.ConversionError, match=message):
        sardonyx.export(Gelu(), (X,), custom_translation_table={torch.ops.aten.gelu: translate})


def test_operators_are_called_in_translators_only() -> None:
    kept: list[Any] = []
    sardonyx.export(
        Gelu(), (X,), custom_translation_table={
            torch.ops.aten.gelu: lambda x: [kept.append(x), op.Relu(x)][1]}
    )  # fmt: skip
    with pytest.raises(sardonyx.OnnxExporterError, match="in a translator only"):
        op.Relu(X)
    with pytest.raises(ValueError, match="is over"):
        _ = kept[0].name


def test_constants_attributes_and_other_domains() -> None:
    contrib = op.domain("com.microsoft", 1)

    def translate(x: Any) -> Any:
        table = torch.tensor([[1.0], [2.0], [3.0]])
        product = contrib.FusedMatMul(x, table, alpha=2.0, _metadata={"from": "test"})
        product.set_type(1, [2, 1])
        parts = op.Split(op.Concat(x, product, axis=1), num_outputs=2, axis=1)
        values, _ = op.TopK(parts[0], [2], axis=1)
        return op.Concat(values, product, axis=1)

    program = sardonyx.export(
        Gelu(), (X,), custom_translation_table={torch.ops.aten.gelu.default: translate}
    )
    proto = program.model_proto
    assert {entry.domain: entry.version for entry in proto.opset_import}["com.microsoft"] == 1
    fused = next(node for node in proto.graph.node if node.op_type == "FusedMatMul")
    assert {p.key: p.value for p in fused.metadata_props}["from"] == "test"
    both = torch.cat((X, 2 * X @ torch.tensor([[1.0], [2.0], [3.0]])), 1)
    expected = torch.cat((both[:, :2].topk(2, 1).values, both[:, 3:]), 1)
    torch.testing.assert_close(program(X)[0], expected)


def test_complex_tensors_are_pairs() -> None:
    class Abs(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.view_as_complex(x).abs()

    pairs = torch.randn(4, 2)

    def translate(x: Any) -> Any:
        assert x.is_complex
        return op.ReduceL2(x, [-1], keepdims=0)

    registry = sardonyx.OnnxRegistry()
    registry.register_op(translate, "aten", "abs", is_complex=True)
    program = sardonyx.export(Abs(), (pairs,), registry=registry)
    torch.testing.assert_close(program(pairs)[0], Abs()(pairs))
    # ... and is not asked for real ones.
    assert_exports(nn.Hardtanh(), (X,), registry=registry)


def test_a_complex_number_makes_a_call_complex() -> None:
    class Numbers(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x == 1j, torch.view_as_real(x + 1j)

    asked = []

    def translate_eq(x: Any, other: complex) -> Any:
        asked.append(("eq", other))
        return op.Less(x, x)  # no real number is one with an imaginary part

    def translate_add(x: Any, other: complex, alpha: int = 1) -> Any:
        asked.append(("add", other))
        real = op.Unsqueeze(op.Add(x, other.real), [-1])
        return op.Concat(real, op.Add(op.Sub(real, real), other.imag), axis=-1)

    registry = sardonyx.OnnxRegistry()
    registry.register_op(translate_eq, "aten", "eq", "Scalar", is_complex=True)
    registry.register_op(translate_add, "aten", "add", "Tensor", is_complex=True)
    program = sardonyx.export(Numbers(), (X,), registry=registry)
    assert asked == [("eq", 1j), ("add", 1j)]
    for got, want in zip(program(X), Numbers()(X), strict=True):
        torch.testing.assert_close(got, want)


# --- the registry


def test_the_registry() -> None:
    registry = sardonyx.OnnxRegistry()
    assert registry.opset_version == 20
    assert registry.is_registered_op("aten", "gelu")
    assert registry.is_registered_op("aten", "add", "Tensor")
    assert not registry.is_registered_op("custom_tests", "scaled")
    assert registry.get_op_functions("custom_tests", "scaled") is None
    registry.register_op(translate_scaled, "custom_tests", "scaled")
    registry.register_op(translate_scaled, "aten", "gelu")
    (own,) = registry.get_op_functions("custom_tests", "scaled") or ()
    assert own.onnx_function is translate_scaled
    assert own.is_custom
    functions = registry.get_op_functions("aten", "gelu") or ()
    assert [function.is_custom for function in functions] == [False, True]
    assert [function.op_full_name for function in functions] == ["aten::gelu", "aten::gelu"]


@pytest.mark.parametrize("name", [("", "a"), ("a", ""), ("a::b", "c"), ("a", "b.c")])
def test_names_that_are_no_operators(name: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="namespace::op"):
        sardonyx.OnnxRegistry().register_op(translate_scaled, *name)


def test_a_registry_in_the_options_of_dynamo_export() -> None:
    registry = sardonyx.OnnxRegistry(18)
    registry.register_op(translate_scaled, "custom_tests", "scaled")
    options = sardonyx.ExportOptions(onnx_registry=registry, dynamic_shapes=True)
    with pytest.warns(DeprecationWarning, match="sardonyx.export"):
        program = sardonyx.dynamo_export(Scaled(), X, export_options=options)
    assert program.opset_version == 18
    other = torch.randn(7, 3)
    torch.testing.assert_close(program(other)[0], Scaled()(other))


# --- onnxscript

CUSTOM = onnxscript.values.Opset("custom_tests", 1)


@onnxscript.script(CUSTOM)
def Shifted(X, offset: float = 1.0):  # type: ignore[no-untyped-def]
    return opset20.Add(X, opset20.CastLike(opset20.Constant(value_float=offset), X))


@onnxscript.script(CUSTOM)
def ScaledScript(x, factor: float, offset: int):  # type: ignore[no-untyped-def]
    product = opset20.Mul(x, opset20.CastLike(opset20.Constant(value_float=factor), x))
    return Shifted(product)


def test_an_onnxscript_function_becomes_a_local_function() -> None:
    class Twice(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return Scaled()(Scaled()(x))

    exported = assert_exports(Twice(), (X,), custom_translation_table={scaled: ScaledScript})
    functions = {(f.domain, f.name) for f in exported.model.functions}
    assert functions == {("custom_tests", "ScaledScript"), ("custom_tests", "Shifted")}
    assert exported.operators.count("ScaledScript") == 2
    imported = {entry.domain: entry.version for entry in exported.model.opset_import}
    assert imported["custom_tests"] == 1
    onnx.checker.check_model(exported.model, full_check=True)


def test_defaults_of_a_local_function_and_a_reference_runtime() -> None:
    table = {torch.ops.aten.gelu.default: Shifted}
    program = sardonyx.export(Gelu(), (X,), custom_translation_table=table)
    torch.testing.assert_close(program(X)[0], X + 1)
    table = {torch.ops.aten.gelu.default: lambda x: Shifted(x, offset=2.5)}
    program = sardonyx.export(Gelu(), (X,), custom_translation_table=table)
    torch.testing.assert_close(program(X)[0], X + 2.5)


def test_traced_onnxscript_functions_and_plain_ones_over_onnxscript() -> None:
    traced = onnxscript.values.TracedOnnxFunction(
        CUSTOM, lambda x: opset20.Relu(opset20.Identity(x))
    )

    def plain(x: Any) -> Any:
        return opset20.Max(opset20.Neg(x) * 2.0, x)

    for translate, expected in ((traced, X.relu()), (plain, torch.maximum(-X * 2, X))):
        program = sardonyx.export(
            Gelu(), (X,), custom_translation_table={torch.ops.aten.gelu.default: translate}
        )
        assert not program.model_proto.functions
        torch.testing.assert_close(program(X)[0], expected)


def test_a_function_of_another_opset() -> None:
    @onnxscript.script(CUSTOM)
    def Old(X):  # type: ignore[no-untyped-def]
        return opset15.ReduceMean(X, axes=[0], keepdims=0)  # attribute; an input since 18

    class Mean(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mean(0)

    table = {torch.ops.aten.mean.dim: lambda x, _dims: Old(x)}
    exported = assert_exports(Mean(), (X,), opset_version=17, custom_translation_table=table)
    assert exported.model.functions[0].opset_import[0].version == 17
    with pytest.raises(sardonyx.ConversionError, match=r"written for opset 15.*ReduceMean"):
        sardonyx.export(Mean(), (X,), opset_version=18, custom_translation_table=table)


def test_two_functions_of_one_name() -> None:
    def make(factor: float) -> Any:
        @onnxscript.script(CUSTOM)
        def Same(X):  # type: ignore[no-untyped-def]
            return opset20.Mul(X, factor)

        return Same

    class Both(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.gelu(x).relu()

    table = {torch.ops.aten.gelu.default: make(2.0), torch.ops.aten.relu.default: make(3.0)}
    with pytest.raises(sardonyx.ConversionError, match="two functions are called"):
        sardonyx.export(Both(), (X,), custom_translation_table=table)


# --- symbolic functions


@pytest.fixture
def registered() -> Iterator[Any]:
    names: list[tuple[str, int]] = []

    def register(name: str, function: Any, opset: int) -> None:
        sardonyx.register_custom_op_symbolic(name, function, opset)
        names.append((name, opset))

    yield register
    for name, opset in names:
        sardonyx.unregister_custom_op_symbolic(name, opset)


def test_the_onnxscript_example_of_the_page(registered: Any) -> None:
    opset_version = 15
    x = torch.randn(1, 2, 3, 4, requires_grad=True)
    model = torch.nn.SELU()
    custom_opset = onnxscript.values.Opset(domain="onnx-script", version=1)

    @onnxscript.script(custom_opset)
    def Selu(X):  # type: ignore[no-untyped-def]
        alpha = 1.67326  # auto wrapped as Constants
        gamma = 1.0507
        alphaX = opset15.CastLike(alpha, X)
        gammaX = opset15.CastLike(gamma, X)
        neg = gammaX * (alphaX * opset15.Exp(X) - alphaX)
        pos = gammaX * X
        zero = opset15.CastLike(0, X)
        return opset15.Where(zero >= X, neg, pos)

    def custom_selu(g: Any, X: Any) -> Any:
        return g.onnxscript_op(Selu, X).setType(X.type())

    registered("aten::selu", custom_selu, opset_version)
    with pytest.warns(DeprecationWarning, match="custom_opsets"):
        program = sardonyx.export(
            model, x, opset_version=opset_version, custom_opsets={"onnx-script": 2}
        )
    proto = program.model_proto
    assert {e.domain: e.version for e in proto.opset_import} == {"": 15, "onnx-script": 2}
    assert [(f.domain, f.name) for f in proto.functions] == [("onnx-script", "Selu")]
    torch.testing.assert_close(program(x)[0], model(x), rtol=1e-4, atol=1e-5)


def test_an_onnxscript_function_with_an_attribute_between_its_inputs(registered: Any) -> None:
    @onnxscript.script(onnxscript.values.Opset("onnx-script", 1), default_opset=opset15)
    def WeightedSum(x, alpha: float, y):  # type: ignore[no-untyped-def]
        return x * alpha + y

    class Sum(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    def weighted_sum(g: Any, x: Any, y: Any, _alpha: Any) -> Any:
        return g.onnxscript_op(WeightedSum, x, y, alpha_f=2.5)

    registered("aten::add", weighted_sum, 15)
    x, y = torch.randn(3), torch.randn(3)
    program = sardonyx.export(Sum(), (x, y), opset_version=15)
    torch.testing.assert_close(program(x, y)[0], x * 2.5 + y)


@pytest.mark.parametrize("parser", ["sardonyx", "torch"])
def test_the_operator_example_of_the_page(registered: Any, parser: str) -> None:
    helper: Any = sardonyx.symbolic_helper if parser == "sardonyx" else None
    if helper is None:
        helper = pytest.importorskip("torch.onnx.symbolic_helper")

    @helper.parse_args("v", "v", "f", "i")
    def symbolic_foo_forward(g: Any, input1: Any, input2: Any, attr1: Any, attr2: Any) -> Any:
        return g.op("custom_domain::Foo", input1, input2, attr1_f=attr1, attr2_i=attr2)

    registered("custom_ops::foo_forward", symbolic_foo_forward, 9)

    class FooModel(torch.nn.Module):
        def __init__(self, attr1: float, attr2: int) -> None:
            super().__init__()
            self.attr1 = attr1
            self.attr2 = attr2

        def forward(self, input1: torch.Tensor, input2: torch.Tensor) -> Any:
            # Calling custom op
            return torch.ops.custom_ops.foo_forward(input1, input2, self.attr1, self.attr2)

    with pytest.warns(DeprecationWarning, match="custom_opsets"):
        program = sardonyx.export(FooModel(1.5, 2), (X, X + 1), custom_opsets={"custom_domain": 2})
    (node,) = program.model_proto.graph.node
    assert (node.domain, node.op_type) == ("custom_domain", "Foo")
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert attributes == {"attr1": 1.5, "attr2": 2}
    versions = {e.domain: e.version for e in program.model_proto.opset_import}
    assert versions["custom_domain"] == 2


_FOO = torch.library.Library("custom_ops", "FRAGMENT")
_FOO.define("foo_forward(Tensor a, Tensor b, float attr1, int attr2) -> Tensor")
torch.library.register_fake("custom_ops::foo_forward", lambda a, *_: torch.empty_like(a))


def test_the_newest_registration_not_above_the_opset_counts(registered: Any) -> None:
    registered("::gelu", lambda g, x, *_: g.op("Relu", x), 9)
    registered("::gelu", lambda g, x, *_: g.op("Abs", x), 18)
    for opset, expected in ((17, "Relu"), (18, "Abs"), (20, "Abs")):
        program = sardonyx.export(Gelu(), (X,), opset_version=opset)
        assert [n.op_type for n in program.model_proto.graph.node] == [expected]
    sardonyx.unregister_custom_op_symbolic("::gelu", 18)
    program = sardonyx.export(Gelu(), (X,))
    assert [n.op_type for n in program.model_proto.graph.node] == ["Relu"]


def test_names_that_cannot_be_registered() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match="domain::name"):
        sardonyx.register_custom_op_symbolic("gelu", lambda g, x: x, 9)
    with pytest.raises(ValueError, match="cannot be modified"):
        sardonyx.register_custom_op_symbolic("onnx::Relu", lambda g, x: x, 9)


def test_types_of_values_in_symbolic_functions(registered: Any) -> None:
    seen: list[Any] = []

    def symbolic(g: Any, x: Any, *_: Any) -> Any:
        kind = x.type()
        seen.append((kind.scalarType(), kind.sizes(), kind.dim(), x.isCompleteTensor()))
        y = g.op("my::Op", x, w_t=torch.ones(2), names_s=["a", "b"], outputs=1)
        seen.append(y.isCompleteTensor())
        return y.setType(kind.with_dtype(torch.float32).with_sizes([2, 3]))

    registered("aten::gelu", symbolic, 9)
    sardonyx.export(Gelu(), (X,))
    assert seen == [("Float", [2, 3], 2, True), False]
    registered("aten::gelu", lambda g, x, *_: g.op("my::Op", x, axis=1), 9)
    with pytest.raises(sardonyx.ConversionError, match="suffixed with type"):
        sardonyx.export(Gelu(), (X,))

"""`sardonyx.ops`: ONNX operators in PyTorch programs."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from torch import nn

import sardonyx
from tests.harness import assert_exports

ops = sardonyx.ops
X = torch.randn(2, 3)
OPERATORS = pytest.mark.parametrize("space", ["sardonyx", "torch"])


def space_of(name: str) -> Any:
    return ops if name == "sardonyx" else pytest.importorskip("torch.onnx.ops")


class Calls(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor, **options: torch.Tensor) -> Any:
        return self.function(*inputs, **options)


def only_node(program: sardonyx.ONNXProgram, op_type: str) -> onnx.NodeProto:
    (node,) = [n for n in program.model_proto.graph.node if n.op_type == op_type]
    return node


# --- symbolic operators


@OPERATORS
def test_the_symbolic_example_of_the_page(space: str) -> None:
    space_ops = space_of(space)

    class CustomOp(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            # Normal torch operators can interleave with the symbolic ops during ONNX export
            x = x + 1

            # Create a symbolic ONNX operator with the name "CustomOp" in the "custom_domain"
            # domain. The output tensor will have the specified dtype and shape
            val = space_ops.symbolic(
                "custom_domain::CustomOp",
                (x,),
                dict(attr_key="attr_value"),  # noqa: C408
                dtype=x.dtype,
                shape=x.shape,
                version=1,
            )

            # The result of the symbolic op can be used in normal torch operations during ONNX
            # export
            return torch.nn.functional.relu(val)

    program = sardonyx.export(CustomOp(), (X,), dynamic_shapes={"x": {0: torch.export.Dim("n")}})
    assert [n.op_type for n in program.model_proto.graph.node] == ["Add", "CustomOp", "Relu"]
    node = only_node(program, "CustomOp")
    assert node.domain == "custom_domain"
    assert helper.get_node_attr_value(node, "attr_key") == b"attr_value"
    assert {e.domain: e.version for e in program.model_proto.opset_import}["custom_domain"] == 1
    assert "::CustomOp" in str(program)
    assert "<FLOAT,[n,3]>" in str(program)


@OPERATORS
def test_the_symbolic_multi_out_example_of_the_page(space: str) -> None:
    space_ops = space_of(space)

    class CustomOp(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            # Normal torch operators can interleave with the symbolic ops during ONNX export
            x = x + 1

            # Create a symbolic ONNX operator with the name "CustomOp" in the "custom_domain"
            # domain. The output tensors will have the specified dtypes and shapes
            # (the page calls `symbolic` here, which has no `dtypes`)
            (out1, out2) = space_ops.symbolic_multi_out(
                "custom_domain::CustomOp",
                (x,),
                dict(attr_key="attr_value"),  # noqa: C408
                dtypes=(x.dtype, torch.float32),
                shapes=(x.shape, [1, 2, 3]),
                version=1,
            )

            # The result of the symbolic op can be used in normal torch operations during ONNX
            # export
            return torch.nn.functional.relu(out1 + out2)

    program = sardonyx.export(CustomOp(), (X,))
    node = only_node(program, "CustomOp")
    assert len(node.output) == 2
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in program.model_proto.graph.value_info
    }
    assert [shapes[name] for name in node.output] == [[2, 3], [1, 2, 3]]


@OPERATORS
def test_every_kind_of_attribute_and_omitted_inputs(space: str) -> None:
    space_ops = space_of(space)
    attrs = {
        "i": 3, "f": 0.5, "s": "text", "b": True, "is": [1, 2], "fs": [1.0, 2.5], "ss": ["a", "b"],
        "bs": [True, False], "mixed": [1, 2.5],
    }  # fmt: skip

    def call(x: torch.Tensor) -> Any:
        return space_ops.symbolic(
            "my.domain::Op", [None, x, None, x], attrs, dtype=7, shape=(x.shape[0], 4), version=3,
            metadata_props={"key": "value"},
        )  # fmt: skip

    program = sardonyx.export(
        Calls(call), (X,), dynamic_shapes={"inputs": ({0: torch.export.Dim("n")},)}
    )
    node = only_node(program, "Op")
    read = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    assert read == {
        "i": 3, "f": 0.5, "s": b"text", "b": 1, "is": [1, 2], "fs": [1.0, 2.5],
        "ss": [b"a", b"b"], "bs": [1, 0], "mixed": [1.0, 2.5],
    }  # fmt: skip
    first = program.input_names[0]
    assert list(node.input) == ["", first, "", first]
    assert {p.key: p.value for p in node.metadata_props}["key"] == "value"
    (output,) = program.model_proto.graph.output
    assert output.type.tensor_type.elem_type == TensorProto.INT64
    assert [d.dim_param or d.dim_value for d in output.type.tensor_type.shape.dim] == ["n", 4]
    assert {e.domain: e.version for e in program.model_proto.opset_import}["my.domain"] == 3


def test_from_a_file(tmp_path: Path) -> None:
    def call(x: torch.Tensor) -> Any:
        first, _ = ops.symbolic_multi_out(
            "d::Op", [x], {"a": [1.5]}, dtypes=[1, 7], shapes=[x.shape, []]
        )
        return first + ops.symbolic("d::Op", [None, x], {"b": ["x"]}, dtype=1, shape=x.shape)

    torch.export.save(torch.export.export(Calls(call), (X,)), tmp_path / "m.pt2")
    program = sardonyx.convert(str(tmp_path / "m.pt2"))
    nodes = [n for n in program.model_proto.graph.node if n.op_type == "Op"]
    assert [len(n.output) for n in nodes] == [2, 1]
    assert next(iter(nodes[1].input)) == ""


def test_eager_results_are_zeros_of_the_declared_type() -> None:
    assert torch.equal(ops.symbolic("a::B", [X], dtype=11, shape=[2]), torch.zeros(2).double())
    first, second = ops.symbolic_multi_out("a::B", [], dtypes=[9, 1], shapes=[[], [0, 2]])
    assert first.dtype == torch.bool
    assert second.shape == (0, 2)


def test_onnx_own_operators_run() -> None:
    def call(x: torch.Tensor) -> Any:
        return ops.symbolic("::Relu", [x], dtype=x.dtype, shape=x.shape)

    for version in (None, 14, 20):

        def versioned(x: torch.Tensor, version: int | None = version) -> Any:
            return ops.symbolic("::Relu", [x], dtype=x.dtype, shape=x.shape, version=version)

        assert_exports(Calls(versioned), (X,), reference=torch.relu)
    del call


def test_matmul_nbits_runs_in_the_runtime() -> None:
    """The operator of the talk's page."""
    out_features, in_features, group_size, bits = 8, 32, 16, 4

    class Linear(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            weight = torch.randint(0, 16, (out_features, in_features), dtype=torch.uint8)
            blocks = weight.view(out_features, in_features // group_size, group_size)
            packed = blocks[..., 0::2] | (blocks[..., 1::2] << 4)
            self.register_buffer("gweight", packed)
            scales = torch.rand(out_features * in_features // group_size)
            self.register_buffer("scales", scales)
            zeros = torch.full((out_features * in_features // group_size // 2,), 0x88)
            self.register_buffer("gzeros", zeros.to(torch.uint8))
            self.register_buffer("full", (blocks.float() - 8) * scales.view(out_features, -1, 1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if sardonyx.is_in_onnx_export():
                return sardonyx.ops.symbolic(
                    "com.microsoft::MatMulNBits",
                    [x, self.gweight, self.scales, self.gzeros],
                    attrs={
                        "K": in_features,
                        "N": out_features,
                        "bits": bits,
                        "block_size": group_size,
                        "accuracy_level": 4,
                    },
                    dtype=x.dtype,
                    shape=[*x.shape[:-1], out_features],
                    version=1,
                )
            return x @ self.full.view(out_features, in_features).T

    model = Linear()
    x = torch.randn(3, in_features)
    program = sardonyx.export(model, (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})
    only_node(program, "MatMulNBits")
    for batch in (3, 5):
        x = torch.randn(batch, in_features)
        # accuracy_level 4 rounds each block of x to int8: half a step for each element is the most.
        steps = x.unflatten(1, (-1, group_size)).abs().amax(-1) / 127
        weights = model.full.view(out_features, in_features).abs()
        farthest = (steps / 2).repeat_interleave(group_size, 1) @ weights.T
        assert ((program(x)[0] - model(x)).abs() <= farthest + 1e-4).all()


# --- bad input


@pytest.mark.parametrize("domain_op", ["Relu", "", "a::", "a::b::c"])
def test_domain_op_needs_both_parts(domain_op: str) -> None:
    with pytest.raises(ValueError, match="domain_op"):
        ops.symbolic(domain_op, [X], dtype=1, shape=[1])


@pytest.mark.parametrize(
    "value", [X, None, {"a": 1}, [], [1, "a"], [None], 1j, b"bytes"], ids=lambda v: type(v).__name__
)
def test_unsupported_attributes(value: Any) -> None:
    with pytest.raises(ValueError, match=r"Unsupported|Empty sequence"):
        ops.symbolic("a::B", [X], {"attr": value}, dtype=1, shape=[1])


def test_counts_of_dtypes_and_shapes() -> None:
    with pytest.raises(ValueError, match=r"Number of shapes \(1\) must match number of dtypes"):
        ops.symbolic_multi_out("a::B", [X], dtypes=[1, 7], shapes=[[1]])
    with pytest.raises(ValueError, match="without outputs"):
        ops.symbolic_multi_out("a::B", [X], dtypes=[], shapes=[])
    for dtype in (0, 8, 99, torch.quint8):
        with pytest.raises(ValueError, match="data type"):
            ops.symbolic("a::B", [X], dtype=dtype, shape=[1])


@pytest.mark.parametrize(
    ("op", "declared", "versions", "message"),
    [
        ("::Nothing", 1, (None,), "no operator Nothing"),
        ("::Relu", 7, (None,), "declared as int64"),
        ("::ReduceMean", 1, (13,), "of opset 13 in a model of opset 20"),
        ("my::Op", 14, (None,), "complex"),
        ("my::Op", 1, (1, 2), "versions 1 and 2"),
    ],
)
def test_what_cannot_be_exported(
    op: str, declared: int, versions: tuple[int | None, ...], message: str
) -> None:
    def call(x: torch.Tensor) -> Any:
        return [
            ops.symbolic(op, [x], dtype=declared, shape=x.shape, version=version)
            for version in versions
        ]

    with pytest.raises(sardonyx.ConversionError, match=message):
        sardonyx.export(Calls(call), (X,))


# --- rotary embedding


def onnx_model(op: str, inputs: list[Any], outputs: int, **attributes: Any) -> onnx.ModelProto:
    """One node, of the inputs that are given."""
    names = [f"i{k}" if v is not None else "" for k, v in enumerate(inputs)]
    results = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    declared = [
        helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(v.numpy().dtype), list(v.shape)
        )
        for n, v in zip(names, inputs, strict=True)
        if v is not None
    ]
    made = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in results]
    graph = helper.make_graph([node], "g", declared, made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


def reference(op: str, inputs: list[Any], outputs: int, **attributes: Any) -> list[torch.Tensor]:
    model = onnx_model(op, inputs, outputs, **attributes)
    feed = {f"i{k}": v.numpy() for k, v in enumerate(inputs) if v is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return [torch.from_numpy(np.asarray(r)) for r in ReferenceEvaluator(model).run(None, feed)]


@OPERATORS
@pytest.mark.parametrize("opset", [18, 23])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("partial", [0, 4])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("positions", [False, True])
def test_rotary_embedding(  # noqa: PLR0917 (a product of cases)
    space: str, opset: int, interleaved: bool, partial: int, flat: bool, positions: bool
) -> None:
    if space == "torch" and (opset == 18 or not positions):
        pytest.skip("once is enough")
    rotary_embedding = space_of(space).rotary_embedding
    batch, heads, length, size = 2, 3, 5, 8
    half = (partial or size) // 2
    x = (
        torch.randn(batch, length, heads * size)
        if flat
        else torch.randn(batch, heads, length, size)
    )
    ids = torch.randint(0, 11, (batch, length)) if positions else None
    shape = (11, half) if positions else (batch, length, half)
    inputs = [x, torch.rand(shape), torch.rand(shape), ids]
    options = {"interleaved": interleaved, "rotary_embedding_dim": partial}
    if flat:
        options["num_heads"] = heads

    def call(*tensors: torch.Tensor) -> Any:
        return rotary_embedding(*tensors, **options)

    given = [i for i in inputs if i is not None]
    exported = assert_exports(Calls(call), tuple(given), opset_version=opset)
    assert ("RotaryEmbedding" in exported.operators) == (opset >= 23)
    attributes = {name: int(value) for name, value in options.items() if value}
    expected = reference("RotaryEmbedding", inputs, 1, **attributes)[0]
    torch.testing.assert_close(call(*given), expected)


def test_rotary_embedding_refuses_what_does_not_fit() -> None:
    x, cache = torch.randn(2, 3, 4, 8), torch.rand(50, 4)
    with pytest.raises(RuntimeError, match="must be 3D"):
        ops.rotary_embedding(x, cache, cache)
    with pytest.raises(RuntimeError, match="num_heads"):
        ops.rotary_embedding(torch.randn(2, 3, 8), cache, cache, torch.zeros(2, 3).long())


@OPERATORS
def test_the_rotary_embedding_example_of_the_page(space: str) -> None:
    rotary_embedding = space_of(space).rotary_embedding

    class Model(torch.nn.Module):
        def forward(
            self, input_data: Any, cos_cache_data: Any, sin_cache_data: Any, position_ids_data: Any
        ) -> Any:
            return rotary_embedding(
                input_data,
                cos_cache_data,
                sin_cache_data,
                position_ids_data,
            )

    model = Model()
    input_data = torch.rand(2, 3, 4, 8)
    position_ids_data = torch.randint(0, 50, (2, 3)).long()
    sin_cache_data = torch.rand(50, 4)
    cos_cache_data = torch.rand(50, 4)
    dynamic_shapes = {
        "input_data": {0: torch.export.Dim.DYNAMIC},
        "cos_cache_data": None,
        "sin_cache_data": None,
        "position_ids_data": {0: torch.export.Dim.DYNAMIC},
    }
    if space == "torch":  # which checks what ONNX asks for, and the page's example is not
        position_ids_data = torch.randint(0, 50, (2, 4)).long()
    program = sardonyx.export(
        model,
        (input_data, cos_cache_data, sin_cache_data, position_ids_data),
        dynamic_shapes=dynamic_shapes,
        dynamo=True,
        opset_version=23,
    )
    text = str(program)
    assert "graph(\n    name=main_graph,\n    inputs=(\n" in text
    assert '%"cos_cache_data"<FLOAT,[50,4]>' in text
    assert '⬅️ ::RotaryEmbedding(%"input_data", %"cos_cache_data", %"sin_cache_data", ' in text
    assert 'return %"rotary_embedding"<FLOAT,[' in text

    # For the eager computation there must be a position for each of the four elements.
    position_ids_data = torch.randint(0, 50, (2, 4)).long()
    ep = torch.export.export(
        model,
        (input_data, cos_cache_data, sin_cache_data, position_ids_data),
    )
    # The program can be decomposed into aten ops
    ep_decomposed = ep.run_decompositions(sardonyx.ops.aten_decompositions())
    assert not any("RotaryEmbedding" in str(node.target) for node in ep_decomposed.graph.nodes)


# --- attention

MASKS = ("none", "bool", "float")


def attention_inputs(mask: str, past: bool, flat: bool, group: int, short: bool) -> list[Any]:
    batch, heads, length, total, size, value_size = 2, 4, 3, 5, 8, 6
    kv = heads // group
    q, k, v = (
        torch.randn(batch, h, n, d)
        for h, n, d in ((heads, length, size), (kv, total, size), (kv, total, value_size))
    )
    if flat:
        q, k, v = (x.transpose(1, 2).flatten(2) for x in (q, k, v))
    caches: list[Any] = [None, None]
    if past:
        caches = [torch.randn(batch, kv, 2, size), torch.randn(batch, kv, 2, value_size)]
        total += 2
    columns = total - 1 if short else total
    masks = {
        "none": None,
        "bool": torch.rand(length, columns) > 0.4,
        "float": torch.randn(batch, 1, length, columns),
    }
    return [q, k, v, masks[mask], *caches]


CASES = [
    (mask, past, causal, flat, group, cap, mode)
    for mask, past, causal, flat, group, (cap, mode) in itertools.product(
        MASKS, (False, True), (False, True), (False, True), (1, 2),
        ((0.0, 0), (2.0, 1), (0.0, 2), (1.5, 3)),
    )
    if not (mask != "none" and flat and group == 1)
]  # fmt: skip


@pytest.mark.parametrize(("mask", "past", "causal", "flat", "group", "cap", "mode"), CASES)
def test_attention_agrees_with_the_reference_of_onnx(  # noqa: PLR0917 (a product of cases)
    mask: str, past: bool, causal: bool, flat: bool, group: int, cap: float, mode: int
) -> None:
    inputs = attention_inputs(mask, past, flat, group, short=False)
    options: dict[str, Any] = {"is_causal": causal, "softcap": cap, "qk_matmul_output_mode": mode}
    if flat:
        options |= {"q_num_heads": 4, "kv_num_heads": 4 // group}
    expected = reference("Attention", inputs, 4, **{k: v * 1 for k, v in options.items()})
    for got, want in zip(ops.attention(*inputs, **options), expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


@OPERATORS
@pytest.mark.parametrize("opset", [18, 23, 24])
@pytest.mark.parametrize(
    ("mask", "past", "causal", "flat", "group"),
    [
        ("none", False, False, False, 1),
        ("none", True, True, True, 2),
        ("bool", True, False, False, 2),
        ("float", False, True, True, 1),
    ],
)
def test_attention_runs_in_the_runtime(  # noqa: PLR0917 (a product of cases)
    space: str, opset: int, mask: str, past: bool, causal: bool, flat: bool, group: int
) -> None:
    if space == "torch" and opset != 23:
        pytest.skip("once is enough")
    if space == "torch" and causal and (past or mask != "none"):
        pytest.skip("PyTorch's eager one counts from the start of the past, and takes no mask")
    attention = space_of(space).attention
    inputs = attention_inputs(mask, past, flat, group, short=False)
    if space == "torch":  # which takes the values' heads for as large as the queries'
        inputs[2], inputs[5] = torch.randn_like(inputs[1]), past and torch.randn_like(inputs[4])
        inputs[5] = inputs[5] if past else None
    names = [n for n, i in zip("QKVMPR", inputs, strict=True) if i is not None]
    options: dict[str, Any] = {"is_causal": causal, "scale": 0.3}
    if flat:
        options |= {"q_num_heads": 4, "kv_num_heads": 4 // group}

    def call(*given: torch.Tensor) -> Any:
        by_name = dict(zip(names, given, strict=True))
        return attention(*(by_name.get(n) for n in "QKVMPR"), **options)[:3]

    exported = assert_exports(
        Calls(call), tuple(i for i in inputs if i is not None), opset_version=opset
    )
    assert ("Attention" in exported.operators) == (opset >= 23)


def test_a_query_that_sees_nothing_gives_zeros() -> None:
    q, k, v = (torch.randn(1, 2, 3, 4) for _ in range(3))
    mask = torch.tensor([[True, True, True], [False, False, False], [True, False, False]])
    output = ops.attention(q, k, v, mask)[0]
    assert torch.equal(output[:, :, 1], torch.zeros(1, 2, 4))
    short = ops.attention(q, k, v, mask[:, :2])[0]
    full = ops.attention(q, k, v, torch.cat((mask[:, :2], torch.zeros(3, 1).bool()), 1))[0]
    torch.testing.assert_close(short, full)
    half = ops.attention(q.half(), k.half(), v.half(), softmax_precision=1)
    assert half[0].dtype == torch.float16


def test_attention_with_dynamic_sizes() -> None:
    class Decoder(nn.Module):
        def forward(self, q: Any, k: Any, v: Any, past_k: Any, past_v: Any) -> Any:
            y, present_k, present_v, _ = ops.attention(
                q, k, v, None, past_k, past_v, is_causal=True, q_num_heads=4, kv_num_heads=2
            )
            return y, present_k, present_v

    def inputs(batch: int, length: int, past: int) -> tuple[torch.Tensor, ...]:
        return (
            torch.randn(batch, length, 32), torch.randn(batch, length, 16),
            torch.randn(batch, length, 16), torch.randn(batch, 2, past, 8),
            torch.randn(batch, 2, past, 8),
        )  # fmt: skip

    batch, length, past = (torch.export.Dim(n) for n in ("batch", "length", "past"))
    flat, cache = {0: batch, 1: length}, {0: batch, 2: past}
    shapes = {"q": flat, "k": flat, "v": flat, "past_k": cache, "past_v": cache}
    assert_exports(
        Decoder(), inputs(2, 3, 5), dynamic_shapes=shapes, opset_version=23,
        other_inputs=[inputs(1, 1, 7), inputs(3, 4, 2)],
    )  # fmt: skip


def test_attention_refuses_what_does_not_fit() -> None:
    q = torch.randn(1, 2, 3, 4)
    with pytest.raises(RuntimeError, match="given together"):
        ops.attention(q, q, q, None, q)
    with pytest.raises(RuntimeError, match="dimensions"):
        ops.attention(q, q[0], q)
    with pytest.raises(RuntimeError, match="num_heads"):
        ops.attention(q[0], q[0], q[0])
    with pytest.raises(RuntimeError, match="softmax_precision"):
        ops.attention(q, q, q, softmax_precision=7)

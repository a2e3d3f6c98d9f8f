"""Weights of 4 and 8 bits in blocks: what they stand for, and what runtimes make of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import sardonyx
from sardonyx import Precision

RNG = np.random.default_rng(0)
VOCABULARY, WIDTH, HIDDEN = 50, 64, 100


def weight(*dims: int) -> np.ndarray:
    return RNG.standard_normal(dims).astype(np.float32)


WEIGHTS = {
    "embed.weight": weight(VOCABULARY, WIDTH),
    "up.weight": weight(WIDTH, HIDDEN),
    "down.weight": weight(WIDTH, HIDDEN),  # turned: rows of HIDDEN, which is no whole blocks
    "down.bias": weight(WIDTH),
    "head.weight": weight(WIDTH, VOCABULARY),
}


def model(opset: int = 21) -> onnx.ModelProto:
    """Looks tokens up, and multiplies: -x W, Gemm(y, W', b), z W."""
    nodes = [
        helper.make_node("Gather", ["embed.weight", "ids"], ["row"], "embed"),
        helper.make_node("Neg", ["row"], ["x"]),
        helper.make_node("MatMul", ["x", "up.weight"], ["y"], "up"),
        helper.make_node("Gemm", ["y", "down.weight", "down.bias"], ["z"], "down", transB=1),
        helper.make_node("MatMul", ["z", "head.weight"], ["logits"], "head"),
    ]
    graph = helper.make_graph(
        nodes,
        "tokens",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", VOCABULARY])],
        [numpy_helper.from_array(value, name) for name, value in WEIGHTS.items()],
    )
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def run(proto: onnx.ModelProto, ids: np.ndarray, optimized: bool = True) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    )
    options.log_severity_level = 3
    # What it fuses itself is as exact as what it is given.
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    result: np.ndarray = session.run(None, {"ids": ids})[0]
    return result


def unpacked(codes: np.ndarray, bits: int) -> np.ndarray:
    if bits == 8:
        return codes.astype(np.int32)
    both = np.stack([codes & 15, codes >> 4], -1).astype(np.int32)
    return both.reshape(*codes.shape[:-1], -1)


def dequantized(
    proto: onnx.ModelProto, name: str, bits: int, rows: int, columns: int
) -> np.ndarray:
    """The rows that the parts in the layout of MatMulNBits and GatherBlockQuantized stand for."""
    parts = {each.name: numpy_helper.to_array(each) for each in proto.graph.initializer}
    scales = parts[f"{name}_scales"].reshape(rows, -1)
    blocks = scales.shape[1]
    codes = unpacked(parts[f"{name}_int{bits}"].reshape(rows, -1), bits).reshape(rows, blocks, -1)
    zero: Any = 1 << (bits - 1)
    if f"{name}_zero_points" in parts:
        zero = unpacked(parts[f"{name}_zero_points"].reshape(rows, -1), bits)[:, :blocks, None]
    result: np.ndarray = ((codes - zero) * scales[..., None]).astype(np.float32)
    return result.reshape(rows, -1)[:, :columns]


def with_weights(proto: onnx.ModelProto, changed: dict[str, np.ndarray]) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for each in copy.graph.initializer:
        if each.name in changed:
            each.CopyFrom(numpy_helper.from_array(changed[each.name], each.name))
    return copy


@pytest.mark.parametrize("method", ["search", "rtn"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("bits", [4, 8])
def test_own_operators(bits: int, symmetric: bool, method: Any) -> None:
    precision = Precision(
        "int4" if bits == 4 else "int8", symmetric=symmetric, method=method, accuracy_level=0
    )
    result, report = sardonyx.optimize(model(), runtime="onnxruntime-cpu", precision=precision)
    onnx.checker.check_model(result, full_check=True)
    kinds = [node.op_type for node in result.graph.node]
    assert kinds == ["GatherBlockQuantized", "Neg", "MatMulNBits", "MatMulNBits", "MatMulNBits"]

    held = {
        "embed.weight": dequantized(result, "embed.weight", bits, VOCABULARY, WIDTH),
        "up.weight": dequantized(result, "up.weight", bits, HIDDEN, WIDTH).T,
        "down.weight": dequantized(result, "down.weight", bits, WIDTH, HIDDEN),
        "head.weight": dequantized(result, "head.weight", bits, VOCABULARY, WIDTH).T,
    }
    errors = {each.name: each for each in report.weights}
    assert set(errors) == set(held)
    for name, value in held.items():
        difference = value - WEIGHTS[name]
        relative = np.sqrt((difference**2).sum() / (WEIGHTS[name] ** 2).sum())
        assert errors[name].relative_error == pytest.approx(relative, rel=1e-3)
        assert errors[name].largest_error == pytest.approx(np.abs(difference).max(), rel=1e-3)
        assert relative < (0.12 if bits == 4 else 0.008)
        assert errors[name].bytes < errors[name].bytes_before * (0.35 if bits == 4 else 0.5)

    ids = np.arange(VOCABULARY)
    expected = run(with_weights(model(), held), ids)
    np.testing.assert_allclose(run(result, ids), expected, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("bits", [4, 8])
def test_standard_operators_are_the_same(bits: int, symmetric: bool, optimized: bool) -> None:
    to: Any = "int4" if bits == 4 else "int8"
    # Tables of embeddings have 8 bits here: ONNX Runtime's Gather takes no fewer.
    precision = Precision(to, symmetric=symmetric, accuracy_level=0, mixed={"embed": "int8"})
    own, _ = sardonyx.optimize(model(), runtime="onnxruntime-cpu", precision=precision)
    result, report = sardonyx.optimize(model(18), runtime="standard", precision=precision)
    onnx.checker.check_model(result, full_check=True)
    assert {node.domain for node in result.graph.node} == {""}
    assert result.opset_import[0].version == 21
    assert {each.name: each.type for each in report.weights} == {
        "embed.weight": "int8",
        "up.weight": to,
        "down.weight": to,
        "head.weight": to,
    }
    ids = np.arange(VOCABULARY)
    np.testing.assert_allclose(run(result, ids, optimized), run(own, ids), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_worse_than_onnx_runtime(symmetric: bool, tmp_path: Path) -> None:
    quantizer = pytest.importorskip("onnxruntime.quantization.matmul_nbits_quantizer")
    theirs = quantizer.MatMulNBitsQuantizer(model(), 4, 32, is_symmetric=symmetric)
    theirs.process()
    error = 0.0
    initializers = {each.name: each for each in theirs.model.model.graph.initializer}
    node = next(n for n in theirs.model.model.graph.node if n.name.startswith("up"))
    parts = [numpy_helper.to_array(initializers[name]) for name in node.input[1:] if name]
    codes = unpacked(parts[0].reshape(HIDDEN, -1), 4).reshape(HIDDEN, 2, 32)
    zero: Any = unpacked(parts[2].reshape(HIDDEN, -1), 4)[:, :2, None] if len(parts) > 2 else 8
    held = ((codes - zero) * parts[1].reshape(HIDDEN, 2, 1)).reshape(HIDDEN, WIDTH).T
    error = np.sqrt(((held - WEIGHTS["up.weight"]) ** 2).sum() / (WEIGHTS["up.weight"] ** 2).sum())

    def ours(method: Any) -> float:
        precision = Precision("int4", symmetric=symmetric, method=method)
        _, report = sardonyx.optimize(model(), runtime="onnxruntime-cpu", precision=precision)
        return next(w.relative_error for w in report.weights if w.name == "up.weight")

    assert ours("rtn") <= error * 1.001
    assert ours("search") < error * 0.97


@pytest.mark.parametrize("runtime", ["onnxruntime-cpu", "standard"])
@pytest.mark.parametrize("bits", [4, 8])
def test_half_beside_blocks(bits: int, runtime: str) -> None:
    to: Any = f"fp16+int{bits}"
    precision = Precision(to, accuracy_level=0)
    result, report = sardonyx.optimize(model(), runtime=runtime, precision=precision)
    onnx.checker.check_model(result, full_check=True)
    kinds = {each.name: each.type for each in report.weights}
    assert kinds.pop("down.bias") == "float16"
    coded = {"up.weight", "down.weight", "head.weight"}
    assert {name for name, kind in kinds.items() if kind == f"int{bits}"} >= coded
    # Nothing of what is large is computed in float32.
    types = {each.name: each.data_type for each in result.graph.initializer}
    assert types["up.weight_scales"] == TensorProto.FLOAT16
    single, _ = sardonyx.optimize(
        model(), runtime=runtime, precision=Precision(to[5:], accuracy_level=0)
    )
    ids = np.arange(VOCABULARY)
    expected = run(single, ids, optimized=False)
    # Rounded weights may get other codes.
    difference = np.linalg.norm(run(result, ids, optimized=False) - expected)
    assert difference < 0.01 * np.linalg.norm(expected)


def test_mixed_and_kept() -> None:
    precision = Precision("int4", mixed={"head": "int8"}, keep=["up", "Gather"])
    result, report = sardonyx.optimize(model(), runtime="onnxruntime-cpu", precision=precision)
    assert {each.name: each.type for each in report.weights} == {
        "down.weight": "int4",
        "head.weight": "int8",
    }
    assert [n.op_type for n in result.graph.node].count("MatMulNBits") == 2
    bits = [a.i for n in result.graph.node for a in n.attribute if a.name == "bits"]
    assert bits == [4, 8]


@pytest.mark.parametrize(
    ("precision", "code"),
    [
        (Precision("int3"), "SX1810"),  # type: ignore[arg-type]
        (Precision("int4", keep=["("]), "SX1811"),
        (Precision("int4", keep=["no_such"]), "SX1812"),
        (Precision("int4", mixed={"no_such": "int8"}), "SX1812"),
        (Precision("int4", block_size=48), "SX1813"),
        (Precision("int4", block_size=128, mixed={"up": "int4"}), "SX1814"),
        (Precision("int4", mixed={"up": "int2"}), "SX1810"),  # type: ignore[dict-item]
        (Precision("fp16", keep=["no_such"]), "SX1812"),
        (Precision("bf16+int4"), "SX1810"),
        (Precision("fp16+int2"), "SX1810"),
    ],
)
def test_what_cannot_be(precision: Precision, code: str, tmp_path: Path) -> None:
    source, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(model(), source)
    out.write_bytes(b"before")
    with pytest.raises(sardonyx.OnnxExporterError) as raised:
        sardonyx.optimize(source, out, runtime="onnxruntime-cpu", precision=precision)
    assert code in str(raised.value)
    assert out.read_bytes() == b"before"
    assert sorted(tmp_path.iterdir()) == [source, out]


def test_an_opset_without_blocks() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match="SX1815"):
        sardonyx.optimize(model(), runtime="standard", opset=18, precision="int4")


def test_rows_that_a_product_reads_at_once() -> None:
    """ONNX Runtime fails to multiply rows of a table in 8 bits by a weight in 8 bits, both in
    blocks: it takes both for tensors with one scale. So such a table stays."""
    proto = model()
    del proto.graph.node[1]
    proto.graph.node[0].output[0] = "x"
    result, report = sardonyx.optimize(proto, precision="int8")
    assert "embed.weight" not in {each.name for each in report.weights}
    assert any(each.node == "embed.weight" for each in report.declined)
    ids = np.arange(VOCABULARY)
    np.testing.assert_allclose(run(result, ids), run(proto, ids), rtol=0.05, atol=20)


def test_infinite_weights_are_told() -> None:
    broken = WEIGHTS["up.weight"].copy()
    broken[0, 0] = np.inf
    proto = with_weights(model(), {"up.weight": broken})
    _, report = sardonyx.optimize(proto, runtime="onnxruntime-cpu", precision="int4")
    assert np.isnan(next(w.relative_error for w in report.weights if w.name == "up.weight"))


def tied() -> onnx.ModelProto:
    """The table of embeddings is the last factor, too."""
    nodes = [
        helper.make_node("Gather", ["embed.weight", "ids"], ["row"], "embed"),
        helper.make_node("Tanh", ["row"], ["x"]),
        helper.make_node("Gemm", ["x", "embed.weight"], ["logits"], "head", transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "tied",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", VOCABULARY])],
        [numpy_helper.from_array(WEIGHTS["embed.weight"], "embed.weight")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("to", ["int4", "int8"])
def test_a_tied_table_is_there_once(to: Any) -> None:
    precision = Precision(to, accuracy_level=0)
    result, report = sardonyx.optimize(tied(), runtime="onnxruntime-cpu", precision=precision)
    onnx.checker.check_model(result, full_check=True)
    assert [each.name for each in report.weights] == ["embed.weight"]
    names = [each.name for each in result.graph.initializer if "embed" in each.name]
    assert names == [f"embed.weight_{to}", "embed.weight_scales"]
    assert [node.op_type for node in result.graph.node] == [
        *("Unsqueeze", "GatherBlockQuantized", "Reshape", "Tanh", "MatMulNBits")
    ]
    bits = 4 if to == "int4" else 8
    value = dequantized(result, "embed.weight", bits, VOCABULARY, WIDTH)
    for ids in (np.arange(VOCABULARY), np.array([7]), np.zeros(0, np.int64)):
        expected = run(with_weights(tied(), {"embed.weight": value}), ids)
        np.testing.assert_allclose(run(result, ids), expected, rtol=1e-4, atol=1e-4)


def test_tables_of_other_bits_or_zero_points_are_there_twice() -> None:
    for precision in (
        Precision("int4", symmetric=False, accuracy_level=0),
        Precision("int4", mixed={"head": "int8"}, accuracy_level=0),
    ):
        result, report = sardonyx.optimize(tied(), runtime="onnxruntime-cpu", precision=precision)
        onnx.checker.check_model(result, full_check=True)
        assert len(report.weights) == 2
        assert run(result, np.arange(3)).shape == (3, VOCABULARY)


@pytest.mark.parametrize("runtime", ["standard", "onnxruntime-cpu"])
def test_a_table_that_is_turned_for_a_product(runtime: str) -> None:
    """By a node, so that it is there once; of as many rows as columns, too."""
    for table in (WEIGHTS["embed.weight"], WEIGHTS["embed.weight"][:WIDTH]):
        nodes = [
            helper.make_node("Gather", ["embed.weight", "ids"], ["row"], "embed"),
            helper.make_node("Neg", ["row"], ["x"]),
            helper.make_node("Transpose", ["embed.weight"], ["turned"], "turn", perm=[1, 0]),
            helper.make_node("MatMul", ["x", "turned"], ["y"], "head"),
            helper.make_node("MatMul", ["y", "up"], ["z"], "up"),
        ]
        up = np.eye(len(table), dtype=np.float32)
        weights = {"embed.weight": table, "up": up}
        graph = helper.make_graph(
            nodes,
            "turned",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", len(table)])],
            [numpy_helper.from_array(value, name) for name, value in weights.items()],
        )
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        precision = Precision("int8", keep=["^up$"], accuracy_level=0)
        result, report = sardonyx.optimize(proto, runtime=runtime, precision=precision)
        onnx.checker.check_model(result, full_check=True)
        assert {name for each in report.weights for name in each.made_of} == {"embed.weight"}
        assert not any(node.op_type == "Transpose" for node in result.graph.node)
        held = {each.is_table: each.values() for each in report.weights}
        assert all(each is not None and each.shape == table.shape for each in held.values())
        ids = np.arange(len(table))
        rows = [
            each.numpy() for each in (held[True], held.get(False, held[True])) if each is not None
        ]
        np.testing.assert_allclose(run(result, ids), -rows[0] @ rows[1].T, rtol=1e-3, atol=1e-2)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no such call")
@pytest.mark.parametrize("runtime", ["standard", "onnxruntime-cpu"])
def test_processors_do_not_change_a_byte(tmp_path: Path, runtime: str) -> None:
    """Of a weight that is coded in several pieces, in both layouts."""
    large = weight(1000, 1100)
    nodes = [helper.make_node("MatMul", ["x", "large"], ["y"])]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])
        for name, size in (("x", 1000), ("y", 1100))
    )
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(large, "large")])
    opsets = [helper.make_opsetid("", 21)]
    source = tmp_path / "source.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), source)

    def written(name: str) -> bytes:
        out = tmp_path / name
        sardonyx.optimize(source, out, precision="int4", runtime=runtime)
        return out.read_bytes()

    all_of_them = os.sched_getaffinity(0)
    with_all = written("all.onnx")
    os.sched_setaffinity(0, {min(all_of_them)})
    try:
        assert written("one.onnx") == with_all
    finally:
        os.sched_setaffinity(0, all_of_them)


@pytest.mark.parametrize("runtime", ["onnxruntime-cpu", "standard"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("to", ["int8", "fp16+int8"])
def test_experts_that_lie_on_one_another(to: Any, turned: bool, runtime: str) -> None:
    """Each is a weight of its own for its product, the same numbers in blocks."""
    stack = weight(3, HIDDEN, WIDTH) if turned else weight(3, WIDTH, HIDDEN)
    swap = "w1 = Transpose<perm = [0, 2, 1]>(experts)" if turned else "w1 = Identity(experts)"
    before = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        graph (float[n, {WIDTH}] x) => (float[n, {HIDDEN}] y)
        <int64 first = {{0}}, int64 last = {{-1}}> {{
          {swap}
          a = Gather(w1, first)
          b = Gather(w1, last)
          ya = MatMul(x, a)
          yb = MatMul(x, b)
          y = Add(ya, yb)
        }}
    """)
    before.graph.initializer.append(numpy_helper.from_array(stack, "experts"))
    precision = Precision(to, accuracy_level=0)
    result, report = sardonyx.optimize(before, runtime=runtime, precision=precision)
    assert [each.name for each in report.weights] == ["experts.0", "experts.2"]
    ops = [node.op_type for node in result.graph.node]
    assert ops.count("MatMulNBits" if runtime == "onnxruntime-cpu" else "MatMul") == 2
    assert "Gather" not in ops
    x = weight(4, WIDTH)
    matrices = stack.transpose(0, 2, 1) if turned else stack
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
    session = onnxruntime.InferenceSession(result.SerializeToString(), options)
    np.testing.assert_allclose(
        session.run(None, {"x": x})[0], x @ matrices[0] + x @ matrices[2], rtol=0.02, atol=0.3
    )


def test_a_stack_that_something_else_reads_stays() -> None:
    before = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        graph (float[n, {WIDTH}] x, int64 which) => (float[n, {HIDDEN}] y)
        <int64 first = {{0}}> {{
          a = Gather(experts, first)
          b = Gather(experts, which)
          ya = MatMul(x, a)
          yb = MatMul(x, b)
          y = Add(ya, yb)
        }}
    """)
    stack = weight(3, WIDTH, HIDDEN)
    before.graph.initializer.append(numpy_helper.from_array(stack, "experts"))
    result, report = sardonyx.optimize(before, runtime="onnxruntime-cpu", precision="int8")
    assert not report.weights
    assert [each.name for each in result.graph.initializer if each.name == "experts"]


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_bodies_hold_their_weights(precision: Any) -> None:
    weight = np.random.default_rng(0).standard_normal((64, 48)).astype(np.float32)

    def body(name: str, op: str) -> onnx.GraphProto:
        nodes = [
            helper.make_node("MatMul", ["x", "w"], [f"{name}_product"]),
            helper.make_node(op, [f"{name}_product"], [name]),
        ]
        result = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", 48])
        return helper.make_graph(nodes, name, [], [result])

    branches = {"then_branch": body("t", "Abs"), "else_branch": body("e", "Neg")}
    graph = helper.make_graph(
        [helper.make_node("If", ["c"], ["y"], **branches)],
        "branches",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", 64]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", 48])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    coded, _ = sardonyx.optimize(model, precision=precision)
    onnx.checker.check_model(coded, full_check=True)
    session = onnxruntime.InferenceSession(
        coded.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    x = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
    want = np.abs(x @ weight)
    got = session.run(None, {"x": x, "c": np.array(True)})[0]
    assert np.abs(got - want).max() < (0.02 if precision == "int8" else 0.2) * want.max()


def test_what_a_logarithm_reads_stays() -> None:
    """Errors near zero are large ones of its result: spectra, quotients, roots."""
    weight = np.abs(np.random.default_rng(0).standard_normal((64, 64))).astype(np.float32)

    def stays(*reader: onnx.NodeProto) -> bool:
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["p"]), *reader],
            "read",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", 64])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", 64])],
            [
                numpy_helper.from_array(weight, "w"),
                numpy_helper.from_array(np.float32(2), "two"),
                numpy_helper.from_array(np.float32(0.3), "third"),
            ],
        )
        opsets = [helper.make_opsetid("", 21)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        _, report = sardonyx.optimize(model, precision="int8")
        return not report.weights

    make = helper.make_node
    assert stays(make("Add", ["p", "two"], ["a"]), make("Log", ["a"], ["y"]))
    assert stays(make("Div", ["two", "p"], ["y"]))
    assert stays(make("Pow", ["p", "third"], ["y"]))
    assert not stays(make("Pow", ["p", "two"], ["y"]))
    assert not stays(make("Div", ["p", "two"], ["y"]))
    assert not stays(make("Softmax", ["p"], ["s"]), make("Log", ["s"], ["y"]))

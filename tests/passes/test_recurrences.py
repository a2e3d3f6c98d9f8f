"""Loops that are a recurrent cell become ONNX's operator, and give what the loop gave."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

import sardonyx
from tests.passes.test_old_opsets import run

# A cell of 4 numbers over rows of 3: what becomes of x and h (and c), the sizes of its weights, and
# the operator.
CELLS = {
    "as TensorFlow has it: one product of both, and a bias of the forget gate": (
        """
        joined = Concat<axis = 1>(xt, h)
        product = MatMul(joined, w)
        gates = Add(product, b)
        i, g, f, o = Split<axis = 1, num_outputs = 4>(gates)
        more = Add(f, one)
        keep = Sigmoid(more)
        kept = Mul(c, keep)
        input = Sigmoid(i)
        candidate = Tanh(g)
        added = Mul(candidate, input)
        c1 = Add(added, kept)
        seen = Tanh(c1)
        output = Sigmoid(o)
        h1 = Mul(seen, output)
        """,
        {"w": (7, 16), "b": (16,)},
        "LSTM",
    ),
    "parts by Slice, biases of one row": (
        """
        xs = MatMul(xt, w)
        hs = Gemm<transB = 1>(h, r, rb)
        sum = Add(xs, hs)
        gates = Add(sum, b)
        i = Slice(gates, at0, at4, at1)
        o = Slice(gates, at4, at8, at1)
        f = Slice(gates, at8, at12, at1)
        g = Slice(gates, at12, at16, at1)
        i1 = Sigmoid(i)
        f1 = Sigmoid(f)
        o1 = Sigmoid(o)
        g1 = Tanh(g)
        ig = Mul(i1, g1)
        fc = Mul(f1, c)
        c1 = Add(fc, ig)
        seen = Tanh(c1)
        h1 = Mul(o1, seen)
        """,
        {"w": (3, 16), "r": (16, 4), "rb": (16,), "b": (1, 16)},
        "LSTM",
    ),
    "a GRU with a product for each gate, its reset gate before the product": (
        """
        zx = MatMul(xt, wz)
        zh = MatMul(h, rz)
        zs = Sum(zx, zh, bz)
        z = Sigmoid(zs)
        rx = MatMul(xt, wr)
        rh = MatMul(h, rr)
        rs = Sum(rx, rh, br)
        r = Sigmoid(rs)
        through = Mul(r, h)
        nx = Gemm(xt, wn, bn)
        nh = MatMul(through, rn)
        ns = Add(nx, nh)
        n = Tanh(ns)
        rest = Sub(one, z)
        old = Mul(z, h)
        new = Mul(rest, n)
        h1 = Add(old, new)
        """,
        {"wz": (3, 4), "rz": (4, 4), "bz": (4,), "wr": (3, 4), "rr": (4, 4), "br": (4,)}
        | {"wn": (3, 4), "rn": (4, 4), "bn": (4,)},
        "GRU",
    ),
    "a GRU whose update gate is the other way round": (
        """
        xs = Gemm<transB = 1>(xt, w, b)
        hs = Gemm<transB = 1>(h, r, rb)
        xr, xz, xn = Split<axis = 1, num_outputs = 3>(xs)
        hr, hz, hn = Split<axis = 1, num_outputs = 3>(hs)
        rs = Add(xr, hr)
        r1 = Sigmoid(rs)
        zs = Add(hz, xz)
        z = Sigmoid(zs)
        through = Mul(r1, hn)
        ns = Add(through, xn)
        n = Tanh(ns)
        rest = Sub(one, z)
        old = Mul(rest, h)
        new = Mul(z, n)
        h1 = Add(new, old)
        """,
        {"w": (12, 3), "r": (12, 4), "b": (12,), "rb": (12,)},
        "GRU",
    ),
    "a plain cell": (
        "xs = MatMul(xt, w) hs = MatMul(h, r) s = Add(xs, hs) h1 = Relu(s)",
        {"w": (3, 4), "r": (4, 4)},
        "RNN",
    ),
}
LOOPS = {
    "Loop": (
        """last, {c} ys = Loop(length, yes, h0 {c0}) <body = body (int64 t, bool go,
        float[N, 4] h {inc}) => (bool on, float[N, 4] h1 {outc}, float[N, 4] y) {{
        on = Identity(go) xt = Gather(x, t) {cell} y = Identity(h1) }}>""",
        "",
    ),
    "Scan": (
        """last, {c} ys = Scan(h0 {c0}, x) <num_scan_inputs = 1, body = body (float[N, 4] h {inc},
        float[N, 3] xt) => (float[N, 4] h1 {outc}, float[N, 4] y) {{
        {cell} y = Identity(h1) }}>""",
        "",
    ),
    "Scan backwards along the second axis": (
        """last, {c} ys = Scan(h0 {c0}, turned) <num_scan_inputs = 1, scan_input_axes = [1],
        scan_output_axes = [1], scan_input_directions = [1], scan_output_directions = [1],
        body = body (float[N, 4] h {inc}, float[N, 3] xt) => (float[N, 4] h1 {outc},
        float[N, 4] y) {{ {cell} y = Identity(h1) }}>""",
        "turned = Transpose<perm = [1, 0, 2]>(x)",
    ),
}


def model(cell: str, loop: str) -> onnx.ModelProto:
    text, weights, op = CELLS[cell]
    form, before = LOOPS[loop]
    has_cells = op == "LSTM"
    looped = form.format(
        cell=text,
        c="lastc," if has_cells else "",
        c0=", c0" if has_cells else "",
        inc=", float[N, 4] c" if has_cells else "",
        outc=", float[N, 4] c1" if has_cells else "",
    )
    numbers = np.random.default_rng(0)
    constants = ["float one = {1}", "bool yes = {1}", "int64 zero = {0}"]
    constants += [f"int64[1] at{n} = {{{n}}}" for n in (0, 1, 4, 8, 12, 16)]
    for name, shape in weights.items():
        values = ", ".join(f"{each:.4f}" for each in numbers.uniform(-1, 1, int(np.prod(shape))))
        constants.append(f"float[{', '.join(map(str, shape))}] {name} = {{{values}}}")
    return onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["" : 20]>
        graph (float[T, N, 3] x, float[N, 4] h0 {", float[N, 4] c0" if has_cells else ""})
            => (float[A, B, 4] ys, float[N, 4] last {", float[N, 4] lastc" if has_cells else ""})
        <{", ".join(constants)}>
        {{ lengths = Shape(x) length = Gather(lengths, zero) {before} {looped} }}
    """)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("cell", CELLS)
def test_a_loop_of_a_cell(cell: str, loop: str) -> None:
    before = model(cell, loop)
    after, _ = sardonyx.optimize(before)
    ops = [node.op_type for node in after.graph.node]
    assert CELLS[cell][2] in ops
    assert not {"Loop", "Scan", "Split"} & set(ops)
    numbers = np.random.default_rng(1)
    # ONNX Runtime does not take a Scan of nothing.
    for length in (0, 1, 5) if loop == "Loop" else (1, 5):
        for batch in (1, 3):
            feed = {"x": numbers.standard_normal((length, batch, 3), np.float32)}
            for state in before.graph.input[1:]:
                feed[state.name] = numbers.standard_normal((batch, 4), np.float32)
            for got, want in zip(run(after, feed), run(before, feed), strict=True):
                if length == 0 and got.ndim == 3:  # a Loop of no runs does not know the batch
                    assert got.shape == (0, batch, 4)
                    continue
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_loop_that_does_not_run_for_the_whole_sequence() -> None:
    before = model("a plain cell", "Loop")
    before.graph.node[0].input[0] = "h0"  # as many steps as rows of the batch
    after, _ = sardonyx.optimize(before)
    assert "Loop" in [node.op_type for node in after.graph.node]


def test_an_operator_of_one_step_that_fills_a_list() -> None:
    numbers = np.random.default_rng(0)
    weights = [
        onnx.numpy_helper.from_array(numbers.uniform(-1, 1, shape).astype(np.float32), name)
        for name, shape in {"w": (1, 12, 3), "r": (1, 12, 4), "b": (1, 24)}.items()
    ]
    before = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 17]>
        graph (float[N, T, 3] x, float[N, 4] h0) => (float[N, T, 4] ys, float[N, 4] last)
        <bool yes = {1}, int64 one = {1}, int64[1] first = {0}> {
          lengths = Shape(x)
          length = Gather(lengths, one)
          none = SequenceEmpty<dtype = 1>()
          last, list = Loop(length, yes, h0, none) <body = body (int64 t, bool go, float[N, 4] h,
              seq(float[N, 4]) sofar) => (bool on, float[N, 4] h1, seq(float[N, 4]) more) {
            on = Identity(go)
            xt = Gather<axis = 1>(x, t)
            x1 = Unsqueeze(xt, first)
            hs = Unsqueeze(h, first)
            y, state = GRU<hidden_size = 4, linear_before_reset = 1>(x1, w, r, b, , hs)
            h1 = Squeeze(state, first)
            more = SequenceInsert(sofar, h1)
          }>
          ys = ConcatFromSequence<axis = 1, new_axis = 1>(list)
        }
    """)
    before.graph.initializer.extend(weights)
    after, _ = sardonyx.optimize(before)
    ops = {node.op_type for node in after.graph.node}
    assert "GRU" in ops
    assert not {"Loop", "ConcatFromSequence"} & ops
    feed = {
        "x": numbers.standard_normal((2, 6, 3), np.float32),
        "h0": numbers.standard_normal((2, 4), np.float32),
    }
    for got, want in zip(run(after, feed), run(before, feed), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    # The list of nothing is refused; the state stays.
    feed["x"] = feed["x"][:, :0]
    ys, last = run(after, feed)
    assert ys.shape == (2, 0, 4)
    np.testing.assert_array_equal(last, feed["h0"])

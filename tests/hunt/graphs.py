"""Random graphs for the optimizer: each computes the same before and after.

That is checked in ONNX Runtime with its optimizer off, and in the reference evaluator of the
package onnx.

Nodes are drawn from the operators that rules match (transposes, reshapes, arithmetic with
constants, slices, MatMuls), so that patterns arise to which the rules apply, or only nearly do.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import sardonyx

from .judge import Verdict

_OPSETS = (13, 17, 18, 20, 21)
_OPSETS_AFTER = (13, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25)
Dims = tuple[int, ...]


@dataclass
class _Graph:
    """A graph as it grows: float32 values with their sizes."""

    rng: random.Random
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)
    dims: dict[str, Dims] = field(default_factory=dict)

    def constant(self, array: Any) -> str:
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op: str, inputs: list[str], dims: Dims, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.dims[name] = dims
        return name

    def numbers(self, dims: Dims) -> str:
        made = np.random.default_rng(self.rng.randrange(1 << 30))
        numbers = made.integers(-4, 5, dims).astype(np.float32) / 2
        if self.rng.random() < 0.4:
            numbers = np.full(dims, self.rng.choice([0.0, 1.0, -1.0, 2.0]), np.float32)
        return self.constant(numbers)


def _pointwise(g: _Graph, x: str) -> None:
    op = g.rng.choice(["Neg", "Relu", "Identity", "Abs", "Sigmoid", "Tanh", "Floor", "Erf", "Sqrt"])
    x = g.node("Abs", [x], g.dims[x]) if op == "Sqrt" else x
    g.node(op, [x], g.dims[x])


def _with_constant(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    wanted = g.rng.choice(
        [(), (1,), dims[-1:], dims, (1, *dims[1:]), (dims[0],) + (1,) * (len(dims) - 1)]
    )
    c = g.numbers(wanted)
    op = g.rng.choice(["Add", "Sub", "Mul", "Mul", "Add", "Max", "Min"])
    g.node(op, [x, c] if g.rng.random() < 0.7 else [c, x], dims)


def _of_two(g: _Graph, x: str) -> None:
    others = [name for name, dims in g.dims.items() if dims == g.dims[x]]
    op = g.rng.choice(["Add", "Sub", "Mul", "Max"])
    g.node(op, [x, g.rng.choice(others)], g.dims[x])


def _transpose(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    perm = list(range(len(dims)))
    g.rng.shuffle(perm)
    g.node("Transpose", [x], tuple(dims[p] for p in perm), perm=perm)


def _reshape(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    if 0 in dims:
        return
    choices = [dims[::-1], (1, *dims), (*dims, 1), (-1,), (dims[0], -1), (-1, dims[-1]), (0, -1)]
    shape = g.rng.choice(choices)
    made = tuple(dims[i] if s == 0 else s for i, s in enumerate(shape))
    made = np.zeros(dims).reshape(made).shape
    g.node("Reshape", [x, g.constant(np.array(shape, np.int64))], made)


def _axes(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    ones = [i for i, d in enumerate(dims) if d == 1]
    if ones and g.rng.random() < 0.5:
        axis = g.rng.choice(ones)
        axes = g.constant(np.array([axis], np.int64))
        g.node("Squeeze", [x, axes], dims[:axis] + dims[axis + 1 :])
    else:
        axis = g.rng.randrange(len(dims) + 1)
        axes = g.constant(np.array([axis], np.int64))
        g.node("Unsqueeze", [x, axes], (*dims[:axis], 1, *dims[axis:]))


def _slice(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    axis = g.rng.randrange(len(dims))
    start, end, step = g.rng.choice(
        [(0, 1 << 40, 1), (1, 1 << 40, 1), (0, -1, 1), (-1, -9999, -1), (0, 9, 2)]
    )
    size = len(range(dims[axis])[start : None if end in (-9999, 1 << 40) else end : step])
    given = [g.constant(np.array([n], np.int64)) for n in (start, end, axis, step)]
    g.node("Slice", [x, *given], (*dims[:axis], size, *dims[axis + 1 :]))


def _concat(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    axis = g.rng.randrange(len(dims))
    others = [
        n
        for n, d in g.dims.items()
        if len(d) == len(dims) and d[:axis] == dims[:axis] and d[axis + 1 :] == dims[axis + 1 :]
    ]
    other = g.rng.choice(others)
    size = dims[axis] + g.dims[other][axis]
    g.node("Concat", [x, other], (*dims[:axis], size, *dims[axis + 1 :]), axis=axis)


def _gather(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    axis = g.rng.randrange(len(dims))
    if dims[axis] == 0:
        return
    places = np.array(g.rng.choice([0, [0], [-1, 0], [[0]]]), np.int64)
    g.node(
        "Gather",
        [x, g.constant(places)],
        (*dims[:axis], *places.shape, *dims[axis + 1 :]),
        axis=axis,
    )


def _product(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    if len(dims) < 2:
        return
    width = g.rng.choice([1, 2, 3])
    y = g.node("MatMul", [x, g.numbers((dims[-1], width))], (*dims[:-1], width))
    if g.rng.random() < 0.6:
        g.node("Add", [y, g.numbers((width,))], g.dims[y])


def _reduce(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    if 0 in dims:
        return
    axis = g.rng.randrange(len(dims))
    keep = g.rng.random() < 0.6
    made = (*dims[:axis], 1, *dims[axis + 1 :]) if keep else dims[:axis] + dims[axis + 1 :]
    axes = g.constant(np.array([axis], np.int64))
    if made:
        g.node("ReduceSum", [x, axes], made, keepdims=int(keep))


def _cast(g: _Graph, x: str) -> None:
    to = g.rng.choice([TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT64])
    y = g.node("Cast", [x], g.dims[x], to=to)
    del g.dims[y]
    g.node("Cast", [y], g.dims[x], to=TensorProto.FLOAT)


def _pad(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    before = [g.rng.randint(0, 1) for _ in dims]
    pads = g.constant(np.array(before + [0] * len(dims), np.int64))
    g.node("Pad", [x, pads], tuple(d + b for d, b in zip(dims, before, strict=True)))


def _where(g: _Graph, x: str) -> None:
    condition = g.constant(np.array(g.rng.choice([True, False, [True], [False]])))
    g.node("Where", [condition, x, g.numbers(())], g.dims[x])


def _softmax(g: _Graph, x: str) -> None:
    g.node("Softmax", [x], g.dims[x], axis=g.rng.randrange(-len(g.dims[x]), 0))


def _split(g: _Graph, x: str) -> None:
    dims = g.dims[x]
    axis = g.rng.randrange(len(dims))
    if dims[axis] < 2:
        return
    first = g.rng.randint(1, dims[axis] - 1)
    sizes = (first, dims[axis] - first)
    names = [f"v{len(g.nodes)}", f"v{len(g.nodes)}b"]
    given = g.constant(np.array(sizes, np.int64))
    g.nodes.append(helper.make_node("Split", [x, given], names, axis=axis))
    for name, size in zip(names, sizes, strict=True):
        g.dims[name] = (*dims[:axis], size, *dims[axis + 1 :])


def _between_transposes(g: _Graph, x: str) -> None:
    """As converters of frameworks that have channels last write it."""
    rank = len(g.dims[x])
    perm = list(range(rank))
    g.rng.shuffle(perm)
    y = g.node("Transpose", [x], tuple(g.dims[x][p] for p in perm), perm=perm)
    between = (_pointwise, _with_constant, _of_two, _softmax, _pad, _slice, _concat, _split)
    for _ in range(g.rng.randint(1, 4)):
        g.rng.choice(between)(g, y)
        y = g.rng.choice([y, list(g.dims)[-1], list(g.dims)[-1]])
    dims = g.dims[y]
    back = [perm.index(i) for i in range(rank)]
    g.node("Transpose", [y], tuple(dims[p] for p in back), perm=back)


def _of_weights(g: _Graph, x: str) -> None:
    """A weight divided by its norm, with its halves in another order."""
    dims = g.dims[x]
    if 0 in dims:
        return
    w = g.numbers(dims)
    axes = g.constant(np.array([g.rng.randrange(len(dims))], np.int64))
    one = g.constant(np.ones((), np.float32))
    squares = g.node("Mul", [w, w], dims)
    length = g.node("ReduceSum", [squares, axes], (), keepdims=1)
    norm = g.node("Sqrt", [g.node("Add", [length, one], ())], ())
    made = g.node("Div", [w, norm], dims)
    for name in (squares, length, norm, made, f"v{len(g.nodes) - 3}"):
        g.dims.pop(name, None)  # nothing else is made of them
    g.node("Mul", [x, made], dims)


def _spread(g: _Graph, x: str) -> None:
    """What is made as large as another value, mostly only to be combined with it."""
    dims = g.dims[x]
    if 0 in dims:
        return
    axis = g.rng.randrange(len(dims))
    axes = g.constant(np.array([axis], np.int64))
    sums = g.node("ReduceSum", [x, axes], (*dims[:axis], 1, *dims[axis + 1 :]), keepdims=1)
    shape = g.node("Shape", [x], ())
    del g.dims[shape]
    if (how := g.rng.choice(["Expand", "Tile", "ConstantOfShape", "Unsqueeze"])) == "Expand":
        wide = g.node("Expand", [sums, shape], dims)
    elif how == "Tile":
        times = [d if i == axis else 1 for i, d in enumerate(dims)]
        wide = g.node("Tile", [sums, g.constant(np.array(times, np.int64))], dims)
    elif how == "ConstantOfShape":
        filled = numpy_helper.from_array(np.array([1.5], np.float32))
        wide = g.node("ConstantOfShape", [shape], dims, value=filled)
    else:
        wide = g.node("Unsqueeze", [x, g.constant(np.array([0], np.int64))], (1, *dims))
    for _ in range(g.rng.randint(0, 2)):
        g.rng.choice((_pointwise, _with_constant))(g, wide)
        wide = list(g.dims)[-1]
    pair = [g.rng.choice([x, sums, wide]), wide]
    g.rng.shuffle(pair)
    made = np.broadcast_shapes(*(g.dims[each] for each in pair))
    if g.rng.random() < 0.3:
        condition = g.node("Greater", pair, made)
        del g.dims[condition]
        g.node("Where", [condition, *pair], made)
    else:
        g.node(g.rng.choice(["Add", "Sub", "Mul", "Max"]), pair, made)


def _scaled_product(g: _Graph, x: str) -> None:
    """Heads of a product, scaled, as attention has its queries."""
    dims = g.dims[x]
    if len(dims) < 2:
        return
    y = g.node("MatMul", [x, g.numbers((dims[-1], 4))], (*dims[:-1], 4))
    if g.rng.random() < 0.7:
        y = g.node("Add", [y, g.numbers((4,))], g.dims[y])
    if g.rng.random() < 0.4:
        _split(g, y)
        y = g.rng.choice([y, *list(g.dims)[-2:]])
    for _ in range(g.rng.randint(0, 2)):
        g.rng.choice((_transpose, _axes, _reshape))(g, y)
        y = list(g.dims)[-1]
    number = g.constant(np.array(g.rng.choice([0.5, 3.0, [0.25], 0.0]), np.float32))
    g.node(g.rng.choice(["Mul", "Mul", "Div"]), [y, number], g.dims[y])


_STEPS: tuple[tuple[Callable[[_Graph, str], None], int], ...] = (
    (_pointwise, 3), (_with_constant, 5), (_of_two, 2), (_transpose, 4), (_reshape, 4), (_axes, 3),
    (_slice, 3), (_concat, 2), (_gather, 2), (_product, 3), (_reduce, 2), (_cast, 2), (_pad, 2),
    (_where, 1), (_softmax, 1), (_split, 1), (_between_transposes, 4), (_of_weights, 1),
    (_spread, 4), (_scaled_product, 3),
)  # fmt: skip


def drawn(seed: int) -> onnx.ModelProto:
    """The graph of a seed."""
    rng = random.Random(seed)
    g = _Graph(rng)
    start = _start(rng)
    g.dims["x"] = start
    steps, weights = zip(*_STEPS, strict=True)
    for _ in range(rng.randint(3, 12)):
        # The last one mostly, so that what is made is deep.
        names = [n for n, d in g.dims.items() if d and int(np.prod(d)) < 5000 and len(d) < 6]
        name = names[-1] if rng.random() < 0.75 else rng.choice(names)
        rng.choices(steps, weights)[0](g, name)
    if not g.nodes:  # steps may find nothing to do
        g.node("Identity", ["x"], start)
    read = set(itertools.chain.from_iterable(node.input for node in g.nodes))
    ends = [n for n in g.dims if n not in read and n != "x"] or [g.nodes[-1].output[0]]
    is_dynamic = rng.random() < 0.4
    given = [f"n{i}" if rng.random() < 0.7 else d for i, d in enumerate(start)]
    graph = helper.make_graph(
        g.nodes,
        "hunted",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, given if is_dynamic else start)],
        [
            helper.make_tensor_value_info(
                n, TensorProto.FLOAT, [None] * len(g.dims[n]) if is_dynamic else g.dims[n]
            )
            for n in ends
        ],
        g.weights,
    )
    opset = helper.make_opsetid("", rng.choice(_OPSETS))
    return helper.make_model(graph, opset_imports=[opset], ir_version=8)


def judged(seed: int) -> tuple[Verdict, str]:
    """What becomes of the graph of a seed, and the graph as text."""
    before = drawn(seed)
    text = f"# graph of seed {seed}, for opset {_opset(seed)}\n{onnx.printer.to_text(before)}"
    sizes = _sizes(seed)
    x = np.random.default_rng(seed).integers(-8, 9, sizes).astype(np.float32) / 4
    try:
        wanted = _in_runtime(before, x)
    except Exception as error:
        return Verdict("not captured", str(error)[:200]), text  # the runtime itself refuses it
    try:
        after, _ = sardonyx.optimize(before, opset=_opset(seed))
    except sardonyx.OnnxExporterError as error:
        if any(each.code != "SX1504" for each in error.diagnostics):
            return Verdict("crash", str(error)[:300]), text
        return Verdict("refused", str(error)[:200]), text
    except Exception as error:
        return Verdict("crash", f"{type(error).__name__}: {str(error)[:300]}"), text
    try:
        onnx.checker.check_model(after, full_check=True)
    except Exception as error:
        return Verdict("crash", f"{type(error).__name__}: {str(error)[:300]}"), text
    for runs, run in enumerate((_in_runtime, _in_reference)):
        try:
            got = run(after, x)
        except Exception as error:
            if run is _in_reference and _fails(before, x):
                continue
            return Verdict("fails at run time", str(error)[:300], runs), text
        # Each against itself: behind steps (Floor, a Cast to integers) the two may differ before.
        judge = _in_runtime if run is _in_runtime or _fails(before, x) else run
        expected = wanted if judge is _in_runtime else judge(before, x)
        for i, (have, want) in enumerate(zip(got, expected, strict=True)):
            if _is_near(have, want):
                continue
            nudged = [judge(before, x * np.float32(1 + off))[i] for off in (-1e-6, 1e-6)]
            if not _hangs_on_rounding(have, want, nudged):
                return Verdict("wrong", f"{run.__name__}: {have} for {want}"[:300], runs), text
    return Verdict("right", runs=2), text


def _is_near(have: Any, want: Any) -> bool:
    return have.shape == want.shape and bool(np.all(_near(have, want)))


def _near(have: Any, want: Any) -> Any:
    return np.isclose(have, want, 1e-3, 1e-4, equal_nan=True)


def _hangs_on_rounding(have: Any, want: Any, nudged: list[Any]) -> bool:
    """Whether only such elements differ as do for an input that is off by a few units in its last
    place: a Cast to integers, or Floor, stands behind a number that is all but whole."""
    if have.shape != want.shape:
        return False
    return bool(np.all(_near(have, want) | ~np.all([_near(each, want) for each in nudged], axis=0)))


def _start(rng: random.Random) -> Dims:
    return tuple(rng.choice([1, 2, 3, 4]) for _ in range(rng.randint(1, 4)))


def _sizes(seed: int) -> Dims:
    """Of the input, some of which the model may not tell."""
    return _start(random.Random(seed))


def _opset(seed: int) -> int | None:
    """The opset that the graph is converted to; None for its own, in half of the graphs."""
    rng = random.Random(f"opset of {seed}")
    return rng.choice(_OPSETS_AFTER) if rng.random() < 0.5 else None


def _in_runtime(model: onnx.ModelProto, x: Any) -> list[Any]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options)
    return list(session.run(None, {"x": x} if session.get_inputs() else {}))


def _in_reference(model: onnx.ModelProto, x: Any) -> list[Any]:
    return list(ReferenceEvaluator(model).run(None, {"x": x}))


def _fails(model: onnx.ModelProto, x: Any) -> bool:
    """Whether the reference evaluator lacks something that the graph has had before."""
    try:
        _in_reference(model, x)
    except Exception:
        return True
    return False

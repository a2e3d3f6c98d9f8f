"""Models of opsets 6 to 12, one for each attribute, input or default that changed since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper

from tests.node_models.cases import Case

Array = np.ndarray
RNG = np.random.default_rng(38)
X = RNG.normal(size=(2, 3, 4)).astype(np.float32)
IMAGE = RNG.normal(size=(1, 2, 4, 4)).astype(np.float32)
COLUMN = np.array([1.0, -2.0, 3.0], np.float32)
SMALL = RNG.integers(0, 3, size=(2, 3, 4)).astype(np.int32)


@dataclass(frozen=True)
class Older:
    """`covers`: an operator and the first opset of the change, with what changed."""

    case: Case
    covers: tuple[str, ...]


def older(  # noqa: PLR0917 (as the table's rows have them)
    op: str,
    opset: int,
    inputs: dict[str, Array],
    expected: list[Array] | None,
    covers: tuple[str, ...],
    outputs: int = 1,
    **attributes: Any,
) -> Older:
    """`expected`: None where the model is to be rejected."""
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, list(inputs), names, **attributes)
    element = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    results = expected or [X] * outputs
    graph = helper.make_graph(
        [node],
        "older",
        [helper.make_tensor_value_info(n, element[n], a.shape) for n, a in inputs.items()],
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape or None
            )
            for name, array in zip(names, results, strict=True)
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4)
    name = f"{op} of opset {opset}: {covers[0]}"
    case = Case(name, model.SerializeToString(), opset, inputs, expected or [], 1e-4, 1e-5)
    return Older(case, covers)


def softmax(x: Array, logarithm: bool) -> Array:
    """Over all axes from the second on at once."""
    flat = x.reshape(len(x), -1).astype(np.float64)
    scores = np.exp(flat - flat.max(axis=1, keepdims=True))
    y = scores / scores.sum(axis=1, keepdims=True)
    return (np.log(y) if logarithm else y).reshape(x.shape).astype(np.float32)


def hardmax(x: Array) -> Array:
    flat = x.reshape(len(x), -1)
    y = np.zeros_like(flat)
    y[np.arange(len(flat)), flat.argmax(axis=1)] = 1
    return y.reshape(x.shape)


def broadcasts() -> Iterator[Older]:
    """Before opset 7 the second operand stood along an axis."""
    y = COLUMN[:, None]
    real = {
        "Add": X + y,
        "Sub": X - y,
        "Mul": X * y,
        "Div": X / y,
        "Pow": np.abs(X) ** y,
        "Greater": y < X,
        "Less": y > X,
    }
    truths = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
    for op, expected in real.items():
        covers = (f"{op} 7: attribute axis removed", f"{op} 7: attribute broadcast removed")
        x = np.abs(X) if op == "Pow" else X
        yield older(op, 6, {"x": x, "b": COLUMN}, [expected], covers, axis=1, broadcast=1)
    for op, function in truths.items():
        covers = (f"{op} 7: attribute axis removed", f"{op} 7: attribute broadcast removed")
        left, right = SMALL > 1, COLUMN > 0
        expected = function(left, right[:, None])
        yield older(op, 6, {"x": left, "b": right}, [expected], covers, axis=1, broadcast=1)
    covers = ("Equal 7: attribute axis removed", "Equal 7: attribute broadcast removed")
    right = np.array([0, 1, 2], np.int32)
    feeds = {"x": SMALL, "b": right}
    yield older("Equal", 6, feeds, [right[:, None] == SMALL], covers, axis=1, broadcast=1)
    a, b = X[0], X[1].T
    c = COLUMN
    feeds = {"a": a, "b": b, "c": c}
    covers = ("Gemm 7: attribute broadcast removed",)
    yield older("Gemm", 6, feeds, [a @ b + c], covers, broadcast=1)


def reductions() -> Iterator[Older]:
    functions = {
        "ReduceSum": lambda x: x.sum(axis=1),
        "ReduceMax": lambda x: x.max(axis=1),
        "ReduceMin": lambda x: x.min(axis=1),
        "ReduceMean": lambda x: x.mean(axis=1),
        "ReduceProd": lambda x: x.prod(axis=1),
        "ReduceL1": lambda x: np.abs(x).sum(axis=1),
        "ReduceL2": lambda x: np.sqrt((x * x).sum(axis=1)),
        "ReduceLogSum": lambda x: np.log(x.sum(axis=1)),
        "ReduceLogSumExp": lambda x: np.log(np.exp(x).sum(axis=1)),
        "ReduceSumSquare": lambda x: (x * x).sum(axis=1),
    }
    x = np.abs(X)
    for op, function in functions.items():
        since = 13 if op == "ReduceSum" else 18
        covers = (
            f"{op} {since}: attribute axes removed",
            f"{op} {since}: input axes added",
            f"{op} {since}: attribute noop_with_empty_axes added",
        )
        yield older(op, 11, {"x": x}, [function(x)], covers, axes=[1], keepdims=0)


def axes() -> Iterator[Older]:
    y = softmax(X, logarithm=False)
    yield older("Softmax", 12, {"x": X}, [y], ("Softmax 13: attribute axis defaults to -1",))
    y = softmax(X, logarithm=True)
    yield older("LogSoftmax", 12, {"x": X}, [y], ("LogSoftmax 13: attribute axis defaults to -1",))
    covers = ("Hardmax 13: attribute axis defaults to -1",)
    yield older("Hardmax", 12, {"x": X}, [hardmax(X)], covers)
    covers = ("Squeeze 13: attribute axes removed", "Squeeze 13: input axes added")
    yield older("Squeeze", 11, {"x": X[:1]}, [X[0]], covers, axes=[0])
    covers = ("Unsqueeze 13: attribute axes removed", "Unsqueeze 13: input axes added")
    yield older("Unsqueeze", 11, {"x": X}, [X[:, None]], covers, axes=[1])
    covers = ("Split 13: attribute split removed", "Split 13: input split added")
    parts = [X[:, :, :1], X[:, :, 1:]]
    yield older("Split", 11, {"x": X}, parts, covers, outputs=2, axis=2, split=[1, 3])
    covers = ("Split 18: attribute num_outputs added",)
    yield older("Split", 11, {"x": X}, [X[:, :, :2], X[:, :, 2:]], covers, outputs=2, axis=2)
    covers = (
        "Slice 10: attribute axes removed",
        "Slice 10: attribute ends removed",
        "Slice 10: attribute starts removed",
        "Slice 10: input starts added",
        "Slice 10: input ends added",
        "Slice 10: input axes added",
        "Slice 10: input steps added",
    )
    yield older("Slice", 9, {"x": X}, [X[:, :, 1:-1]], covers, starts=[1], ends=[-1], axes=[2])
    covers = (
        "TopK 10: attribute k removed",
        "TopK 10: input K added",
        "TopK 11: attribute largest added",
        "TopK 11: attribute sorted added",
    )
    order = np.argsort(-X, axis=-1)[..., :2]
    top = [np.take_along_axis(X, order, -1), order]
    yield older("TopK", 9, {"x": X}, top, covers, outputs=2, k=2)
    covers = (
        "ArgMax 12: attribute select_last_index added",
        "ArgMin 12: attribute select_last_index added",
    )
    expected = [SMALL.argmax(axis=1)]
    yield older("ArgMax", 11, {"x": SMALL}, expected, covers[:1], axis=1, keepdims=0)
    expected = [SMALL.argmin(axis=1)]
    yield older("ArgMin", 11, {"x": SMALL}, expected, covers[1:], axis=1, keepdims=0)
    i = np.array([[0, 1], [1, 2]])
    covers = ("GatherND 12: attribute batch_dims added",)
    yield older("GatherND", 11, {"x": X, "i": i}, [X[i[:, 0], i[:, 1]]], covers)
    feeds = {"x": X[0, :1], "i": np.array([[1, 3]]), "u": np.ones((1, 2), np.float32)}
    expected = [np.array([[X[0, 0, 0], 1, X[0, 0, 2], 1]], np.float32)]
    yield older("Scatter", 10, feeds, expected, ("Scatter 11: operator deprecated",), axis=1)


def values() -> Iterator[Older]:
    covers = (
        "Clip 11: attribute max removed",
        "Clip 11: attribute min removed",
        "Clip 11: input min added",
        "Clip 11: input max added",
    )
    yield older("Clip", 10, {"x": X}, [np.clip(X, -0.5, 0.25)], covers, min=-0.5, max=0.25)
    covers = (
        "Pad 11: attribute pads removed",
        "Pad 11: attribute value removed",
        "Pad 11: input pads added",
        "Pad 11: input constant_value added",
        "Pad 18: input axes added",
    )
    padded = np.pad(X, [(0, 0), (1, 0), (0, 2)], constant_values=1.5)
    yield older("Pad", 10, {"x": X}, [padded], covers, pads=[0, 1, 0, 0, 0, 2], value=1.5)
    covers = ("Dropout 7: attribute is_test removed",)
    yield older("Dropout", 6, {"x": X}, [X], covers, is_test=1)
    covers = (
        "Dropout 12: attribute ratio removed",
        "Dropout 12: attribute seed added",
        "Dropout 12: input ratio added",
        "Dropout 12: input training_mode added",
    )
    yield older("Dropout", 11, {"x": X}, [X], covers, ratio=0.75)
    wide = IMAGE.repeat(2, axis=3).repeat(2, axis=2)
    covers = ("Upsample 9: attribute scales removed", "Upsample 9: input scales added")
    yield older("Upsample", 8, {"x": IMAGE}, [wide], covers, scales=[1.0, 1.0, 2.0, 2.0])
    scales = np.array([1, 1, 2, 2], np.float32)
    covers = ("Upsample 10: operator deprecated",)
    yield older("Upsample", 9, {"x": IMAGE, "s": scales}, [wide], covers)
    covers = (
        "Resize 11: attribute coordinate_transformation_mode added",
        "Resize 11: attribute cubic_coeff_a added",
        "Resize 11: attribute exclude_outside added",
        "Resize 11: attribute extrapolation_value added",
        "Resize 11: attribute nearest_mode added",
        "Resize 11: input scales added",
        "Resize 11: input sizes added",
    )
    yield older("Resize", 10, {"x": IMAGE, "s": scales}, [wide], covers)
    codes = np.array([[3, 128], [7, 255]], np.uint8)
    feeds = {"x": codes, "s": np.array(0.5, np.float32), "z": np.array(128, np.uint8)}
    real = ((codes.astype(np.int32) - 128) * 0.5).astype(np.float32)
    covers = ("DequantizeLinear 13: attribute axis added",)
    yield older("DequantizeLinear", 10, feeds, [real], covers)
    covers = ("QuantizeLinear 13: attribute axis added",)
    yield older("QuantizeLinear", 10, {**feeds, "x": real}, [codes], covers)
    deep = RNG.normal(size=(1, 8, 2, 2)).astype(np.float32)
    blocks = deep.reshape(1, 2, 2, 2, 2, 2).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 4)
    covers = ("DepthToSpace 11: attribute mode added",)
    yield older("DepthToSpace", 10, {"x": deep}, [blocks], covers, blocksize=2)


def networks() -> Iterator[Older]:
    one, zero = np.ones(3, np.float32), np.zeros(3, np.float32)
    feeds = {"x": X, "s": COLUMN, "b": one, "m": zero, "v": one * 4}
    normal = (X / np.sqrt(4 + 1e-5) * COLUMN[:, None] + 1).astype(np.float32)
    covers = ("BatchNormalization 7: attribute is_test removed",)
    yield older("BatchNormalization", 6, feeds, [normal], covers, is_test=1)
    covers = ("BatchNormalization 7: attribute is_test removed",)
    yield older("BatchNormalization", 6, feeds, None, covers, is_test=0)
    covers = (
        "BatchNormalization 9: attribute spatial removed",
        "BatchNormalization 14: attribute training_mode added",
    )
    yield older("BatchNormalization", 8, feeds, [normal], covers, spatial=1)
    whole = {"x": X, **{n: np.ones(X.shape[1:], np.float32) for n in "sbmv"}}
    yield older("BatchNormalization", 8, whole, None, covers[:1], spatial=0)
    covers = (
        "BatchNormalization 14: output saved_mean removed",
        "BatchNormalization 14: output saved_var removed",
    )
    yield older("BatchNormalization", 9, feeds, None, covers, outputs=5)
    pairs = IMAGE.reshape(1, 2, 2, 2, 2, 2)
    covers = (
        "AveragePool 7: attribute count_include_pad added",
        "AveragePool 10: attribute ceil_mode added",
    )
    sizes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield older("AveragePool", 6, {"x": IMAGE}, [pairs.mean(axis=(3, 5))], covers, **sizes)
    covers = (
        "MaxPool 8: attribute storage_order added",
        "MaxPool 8: output Indices added",
        "MaxPool 10: attribute ceil_mode added",
        "MaxPool 10: attribute dilations added",
    )
    yield older("MaxPool", 7, {"x": IMAGE}, [pairs.max(axis=(3, 5))], covers, **sizes)
    yield from recurrences()


def recurrences() -> Iterator[Older]:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}
    for op, count in gates.items():
        feeds = {
            "x": X,
            "w": np.zeros((1, 2 * count, 4), np.float32),
            "r": np.zeros((1, 2 * count, 2), np.float32),
        }
        covers = (f"{op} 7: attribute output_sequence removed",)
        expected = [np.zeros((2, 1, 3, 2), np.float32)]
        yield older(op, 6, feeds, expected, covers, hidden_size=2, output_sequence=1)


def older_models() -> list[Older]:
    groups = (broadcasts, reductions, axes, values, networks)
    return [model for group in groups for model in group()]

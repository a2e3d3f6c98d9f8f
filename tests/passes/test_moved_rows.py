"""Rows that are shifted, parted and put together are gathered at once: the same rows in the same
places, whatever moved them, of any number of samples, none included."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import parser

import sardonyx

# From x, [n, 4, 6, 8] unless it says otherwise, to y; the nodes that are left.
MOVES = {
    "shifts of both axes": (
        """
        a, b = Split <axis = 1> (x, one_three)
        c = Concat <axis = 1> (b, a)
        d, e = Split <axis = -2> (c, two_four)
        y = Concat <axis = 2> (e, d)""",
        ["Reshape", "Gather", "Reshape"],
    ),
    "every other place from the back to the front": (
        """
        a = Slice (x, from_back, to_end, two, halves)
        b = Transpose <perm = [0, 2, 1, 3]> (a)
        c = Gather <axis = 2> (b, turned)
        y = Transpose <perm = [0, 2, 1, 3]> (c)""",
        ["Reshape", "Gather", "Reshape"],
    ),
    "parts of different widths": (
        """
        a, b = Split <axis = 2> (x, two_four)
        c = Transpose <perm = [0, 2, 1, 3]> (a)
        d = Transpose <perm = [0, 2, 1, 3]> (b)
        y = Concat <axis = 1> (d, c)""",
        ["Reshape", "Gather", "Reshape"],
    ),
    "numbers of rows are parted": (
        """
        a = Reshape (x, in_halves)
        b = Transpose <perm = [0, 3, 2, 1, 4]> (a)
        c, d = Split <axis = 1> (b, one_one)
        y = Concat <axis = 2> (d, c)""",
        ["Reshape", "Transpose", "Split", "Concat"],  # four numbers are no row
    ),
    "twice the same": (
        """
        a = Slice (x, zero, three, one)
        b = Concat <axis = 1> (a, a)
        y = Transpose <perm = [0, 2, 1, 3]> (b)""",
        ["Reshape", "Gather", "Reshape"],
    ),
}
CONSTANTS = {
    "zero": [0],
    "one": [1],
    "two": [-2],
    "three": [3],
    "from_back": [1],
    "to_end": [1 << 62],
    "halves": [2],
    "turned": [-1, 0, 1, 2],
    "one_one": [1, 1],
    "one_three": [1, 3],
    "two_four": [2, 4],
    "in_halves": [0, 4, 6, 2, 4],
}


@pytest.mark.parametrize("move", MOVES)
def test_rows_are_where_they_were(move: str) -> None:
    nodes, left = MOVES[move]
    constants = ", ".join(
        f"int64[{len(numbers)}] {name} = {{{', '.join(map(str, numbers))}}}"
        for name, numbers in CONSTANTS.items()
        if name in nodes
    )
    model = parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 20]>
        g (float[n, 4, 6, 8] x) => (float z) <{constants}> {{
            {nodes}
            z = Neg (y)
        }}"""
    )
    shown = onnx.shape_inference.infer_shapes(model, data_prop=True).graph.value_info
    model.graph.output[0].type.CopyFrom(next(v for v in shown if v.name == "y").type)
    smaller, _ = sardonyx.optimize(model)
    onnx.checker.check_model(smaller, full_check=True)
    assert [node.op_type for node in smaller.graph.node] == [*left, "Neg"]
    for samples in (1, 3, 0):
        x = np.arange(samples * 192, dtype=np.float32).reshape(samples, 4, 6, 8)
        before, after = (
            ort.InferenceSession(m.SerializeToString()).run(None, {"x": x})[0]
            for m in (model, smaller)
        )
        np.testing.assert_array_equal(before, after)

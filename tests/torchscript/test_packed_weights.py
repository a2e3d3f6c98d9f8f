"""Layers that torch.ao.quantization.quantize_dynamic() makes: scripted, traced and from the file.

PyTorch's kernels multiply integers of 8 bits. Ours are the same integers, so that answers differ by
the rounding of float32 alone; but where an element of the input lies within that of a tie between
two steps, it may go the other way: by one step of the input, times a weight.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

import sardonyx

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
_LAYERS = {nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}


def _quantized(module: nn.Module, dtype: torch.dtype = torch.qint8) -> nn.Module:
    quantized: nn.Module = torch.ao.quantization.quantize_dynamic(
        module.eval(), _LAYERS, dtype=dtype
    )
    return quantized


class Linears(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y, (h, c) = self.lstm(x)
        z, _ = self.gru(y)
        return z, h, c


class States(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 5)

    def forward(self, x: Tensor) -> Tensor:
        y, h = x, torch.full([1, x.size(1), 5], 0.5)
        for row in range(2):
            y, (h, _) = self.lstm(x[row:], (h, h * 3))
        return y


class Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(6, 5), nn.GRUCell(5, 4)
        self.tanh, self.relu = nn.RNNCell(4, 3), nn.RNNCell(3, 6, nonlinearity="relu")

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h, c = self.lstm(x)
        h, c = self.lstm(x, (h, c))
        return self.relu(self.tanh(self.gru(h))), c


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True)
        self.gru = nn.GRU(6, 4)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        y, (h, _) = self.lstm(rows)
        _, last = self.gru(rows)
        return nn.utils.rnn.pad_packed_sequence(y)[0], h, last


def _answers(session: ort.InferenceSession, args: tuple[Tensor, ...]) -> list[Any]:
    names = [value.name for value in session.get_inputs()]
    return session.run(None, {n: a.numpy() for n, a in zip(names, args, strict=True)})


def _leaves(value: Any) -> list[Tensor]:
    if isinstance(value, tuple) and not isinstance(value, PackedSequence):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _batch(*sizes: int) -> Tensor:
    return torch.randn(*sizes) * 2


_ROWS = {
    "linears": (Linears, "x:float32[n,6]", {0: "n"}, [(4, 6), (1, 6), (0, 6)]),
    "linears of three dimensions": (Linears, "x:float32[n,t,6]", {0: "n", 1: "t"},
                                    [(2, 3, 6), (1, 5, 6)]),
    "layers": (Layers, "x:float32[n,t,6]", {0: "n", 1: "t"}, [(2, 7, 6), (3, 4, 6), (1, 1, 6)]),
    "states": (States, "x:float32[t,n,6]", {0: "t", 1: "n"}, [(5, 2, 6), (3, 1, 6)]),
    "cells": (Cells, "x:float32[n,6]", {0: "n"}, [(3, 6), (1, 6)]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16])
@pytest.mark.parametrize("kind", ["script", "trace", "module"])
@pytest.mark.parametrize("name", _ROWS)
def test_dynamically_quantized_layers(
    name: str, kind: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    make, text, dims, sizes = _ROWS[name]
    torch.manual_seed(0)
    module = _quantized(make(), dtype)
    example = _batch(*sizes[0])
    program: Any = module
    if kind != "module":
        compile_ = torch.jit.script if kind == "script" else torch.jit.trace
        program = compile_(module, *([(example,)] if kind == "trace" else []))
    exported = sardonyx.export(
        program, (example,), input_names=["x"], dynamic_shapes={"x": dims}, verbose=False
    )
    models = [exported.model_proto]
    if kind != "module":
        program.save(tmp_path / "model.pt")
        told = {"inputs": [text]} if kind == "script" else {}
        freed = {} if told else {"dynamic": [f"x:{','.join(map(str, dims))}"]}
        converted = sardonyx.convert(tmp_path / "model.pt", **told, **freed)
        models.append(converted.model_proto)
    for model in models:
        onnx.checker.check_model(model, full_check=True)
        session = ort.InferenceSession(model.SerializeToString())
        for size in sizes:
            x = _batch(*size)
            expected = _leaves(module(x))
            for found, wanted in zip(_answers(session, (x,)), expected, strict=True):
                assert found.shape == tuple(wanted.shape)
                np.testing.assert_allclose(found, wanted.detach(), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16])
def test_packed_sequences_of_quantized_layers(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    module = torch.jit.script(_quantized(Packed(), dtype))
    example = (_batch(5, 3, 6), torch.tensor([2, 5, 1]))
    shapes = {"x": {0: "t", 1: "n"}, "lengths": {0: "n"}}
    program = sardonyx.export(module, example, dynamic_shapes=shapes, verbose=False)
    session = ort.InferenceSession(program.model_proto.SerializeToString())
    # What lies behind a sequence's end does not count.
    for steps, lengths in ((5, [2, 5, 1]), (4, [4, 3]), (6, [3, 6, 6, 2])):
        x = _batch(steps, len(lengths), 6)
        for row, length in enumerate(lengths):
            x[length:, row] = 50
        args = x, torch.tensor(lengths)
        expected = _leaves(module(*args))
        for found, wanted in zip(_answers(session, args), expected, strict=True):
            np.testing.assert_allclose(found, wanted.detach(), rtol=1e-5, atol=2e-6)


def test_a_quantized_product_is_one_of_integers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = torch.jit.script(_quantized(Linears()))
    program = sardonyx.export(module, (_batch(4, 6),), verbose=False)
    operators = {node.op_type for node in program.model_proto.graph.node}
    assert "MatMulInteger" in operators
    weights = {w.data_type for w in program.model_proto.graph.initializer if len(w.dims) == 2}
    assert weights == {onnx.TensorProto.INT8}


@pytest.mark.parametrize(
    ("runtime", "weights"), [("onnxruntime", "INT8"), ("onnxruntime-avx2", "UINT8")]
)
def test_inputs_of_all_256_steps(runtime: str, weights: str) -> None:
    """As older releases scripted Linear. Without VNNI, int8 products are added up in 16 bits."""
    module = _quantized(Linears())
    for layer in module.modules():
        if isinstance(layer, torch.ao.nn.quantized.dynamic.Linear):
            layer.version = 3
    scripted = torch.jit.script(module)
    x = _batch(4, 6)
    program = sardonyx.export(scripted, (x,), verbose=False, target_runtime=runtime)
    graph = program.model_proto.graph
    zeros = {node.input[3] for node in graph.node if node.op_type == "MatMulInteger"}
    types = {w.data_type for w in graph.initializer if w.name in zeros}
    assert types == {onnx.TensorProto.DataType.Value(weights)}
    session = ort.InferenceSession(program.model_proto.SerializeToString())
    (found,) = _answers(session, (x,))
    np.testing.assert_allclose(found, scripted(x).detach(), rtol=1e-5, atol=2e-6)

"""Weights are written once, whatever shares them, and only where the program uses them."""

from __future__ import annotations

import onnx
import pytest
import torch

from tests.harness import Exported, assert_exports


def weight_bytes(exported: Exported) -> int:
    graphs = [exported.model.graph]
    sizes = [onnx.numpy_helper.to_array(tensor).nbytes for g in graphs for tensor in g.initializer]
    constants = [
        onnx.numpy_helper.to_array(attribute.t).nbytes
        for g in graphs
        for node in g.node
        for attribute in node.attribute
        if attribute.type == onnx.AttributeProto.TENSOR
    ]
    return sum(sizes) + sum(constants)


class TiedHead(torch.nn.Module):
    """As language models tie their last layer to the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(100, 16)
        self.head = torch.nn.Linear(16, 100, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        return self.head(self.embedding(ids).relu())


@pytest.mark.parametrize("optimize", [True, False])
def test_tied_weights_are_one_initializer(optimize: bool) -> None:
    exported = assert_exports(TiedHead(), (torch.randint(0, 100, (2, 5)),), optimize=optimize)
    assert weight_bytes(exported) < 100 * 16 * 4 * 1.5


class SharedStorage(torch.nn.Module):
    """Two parameters that are views of one tensor, one of them transposed."""

    def __init__(self) -> None:
        super().__init__()
        base = torch.randn(64, 64)
        self.whole = torch.nn.Parameter(base)
        self.turned = torch.nn.Parameter(base.t())
        self.part = torch.nn.Parameter(base[8:16])

    def forward(self, x):
        return x @ self.whole + x @ self.turned.relu(), x @ self.part.t()


def test_weights_that_share_storage_keep_their_values() -> None:
    assert_exports(SharedStorage(), (torch.randn(3, 64),))


class SameStorageTwice(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        base = torch.randn(64, 64)
        self.register_buffer("a", base)
        self.register_buffer("b", base.view(64, 64))

    def forward(self, x):
        return x @ self.a + (x * 2) @ self.b


def test_buffers_over_the_same_bytes_are_one_initializer() -> None:
    exported = assert_exports(SameStorageTwice(), (torch.randn(3, 64),))
    assert weight_bytes(exported) < 64 * 64 * 4 * 1.5


class Strided(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.columns = torch.nn.Parameter(torch.randn(6, 8).t())
        self.every_other = torch.nn.Parameter(torch.randn(16)[::2])
        self.register_buffer("expanded", torch.randn(8, 1).expand(8, 6))
        self.register_buffer("shifted", torch.arange(20.0)[3:11], persistent=False)

    def forward(self, x):
        return x @ self.columns * 2, x + self.every_other, x @ self.expanded, x * self.shifted


def test_weights_with_strides_and_offsets() -> None:
    assert_exports(Strided(), (torch.randn(3, 8),))


class PartlyUsed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used = torch.nn.Linear(8, 8)
        self.unused = torch.nn.Linear(1000, 1000)

    def forward(self, x):
        return self.used(x)


def test_weights_without_use_are_not_written() -> None:
    exported = assert_exports(PartlyUsed(), (torch.randn(2, 8),))
    assert weight_bytes(exported) < 1000


class Literals(torch.nn.Module):
    """Constants that forward() makes itself."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = torch.randn(3)

    def forward(self, x):
        table = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        return x + table[0], x * self.plain, x.new_tensor([1, 2, 3]), torch.tensor(7)


def test_constants_of_the_program() -> None:
    assert_exports(Literals(), (torch.randn(2, 3),))


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.bool]
)
def test_weights_of_every_dtype(dtype: torch.dtype) -> None:
    class Hold(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype))

        def forward(self, ids):
            return self.table[ids]

    assert_exports(Hold(), (torch.tensor([1, 0, 1]),))


def test_names_are_the_module_s() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.PReLU(4))
    exported = assert_exports(model, (torch.randn(2, 3),), optimize=False)
    names = {tensor.name for tensor in exported.model.graph.initializer}
    assert {"0.weight", "0.bias"} <= names

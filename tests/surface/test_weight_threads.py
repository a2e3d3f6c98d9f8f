"""Weights are cast, quantized and written by several threads, with the same bytes as by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import sardonyx

PRECISIONS: list[Any] = [
    None,
    sardonyx.Precision("int4", method="rtn"),
    sardonyx.Precision("int8", symmetric=False),
    "bf16",
]


class Layers(torch.nn.Module):
    """Products with weights of half precision, larger than a thread's start is worth."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        first = torch.randn(1100, 1504, generator=generator)
        second = torch.randn(1100, 1504, generator=generator)
        self.first = torch.nn.Parameter(first.to(torch.bfloat16), False)
        self.second = torch.nn.Parameter(second.to(torch.float16), False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.first.float()) @ self.second.float().t()


@pytest.fixture(autouse=True)
def _all_threads() -> Iterator[None]:
    yield
    sardonyx.set_num_threads(0)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_bytes_do_not_depend_on_the_number_of_threads(tmp_path, precision):
    written = []
    for threads in (1, 2, 5):
        sardonyx.set_num_threads(threads)
        program = sardonyx.export(Layers(), (torch.zeros(1, 1100),))
        if precision is not None:
            program, _ = sardonyx.optimize(program, precision=precision)
        path = tmp_path / f"{threads}.onnx"
        program.save(path, external_data=True)
        written.append(path.with_name(path.name + ".data").read_bytes())
    assert written[0] == written[1] == written[2]


def test_casts_are_those_of_pytorch(tmp_path):
    model = Layers()
    program = sardonyx.export(model, (torch.zeros(1, 1100),))
    program.save(tmp_path / "m.onnx", external_data=True)
    data = (tmp_path / "m.onnx.data").read_bytes()
    for expected in (model.first.float(), model.second.float().t().contiguous()):
        assert np.ascontiguousarray(expected.detach().numpy()).tobytes() in data


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="-1 threads"):
        sardonyx.set_num_threads(-1)

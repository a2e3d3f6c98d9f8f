"""Exports in several threads and processes, and exports that are interrupted."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import nn

import sardonyx


class Branches(nn.Module):
    """Its mode decides what it computes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        return y * 2 if self.training else y


def export(model: nn.Module, width: int, **options: Any) -> sardonyx.ONNXProgram:
    example = (torch.ones(2, width),)
    return sardonyx.export(model, example, dynamic_shapes=({0: "batch"},), **options)


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_threads_export_models_of_their_own(capture: str) -> None:
    models = {width: Branches(width).eval() for width in range(2, 8)}
    with ThreadPoolExecutor(3) as threads:
        made = dict(
            zip(models, threads.map(lambda w: export(models[w], w, capture=capture), models),
                strict=True)
        )  # fmt: skip
    for width, model in models.items():
        x = torch.randn(5, width)
        torch.testing.assert_close(made[width](x)[0], model(x))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_export_one_model_in_a_mode_of_theirs() -> None:
    model = Branches(4).train()
    with ThreadPoolExecutor(3) as threads:
        made = list(
            threads.map(lambda _: export(model, 4, training=sardonyx.TrainingMode.EVAL), range(4))
        )
    assert model.training
    x = torch.randn(3, 4)
    for program in made:
        torch.testing.assert_close(program(x)[0], model.eval()(x))


def _exports_in_child(results: Any) -> None:
    results.put(export(Branches(2), 2).input_names)


def test_a_child_process_exports_while_a_thread_of_its_parent_does() -> None:
    from sardonyx._base.state import is_in_onnx_export, one_capture_at_a_time

    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with one_capture_at_a_time():
            held.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_exports_in_child, args=(results,))
    child.start()
    try:
        assert results.get(timeout=60) == ["x"]
    finally:
        done.set()
        child.join(10)
        child.kill()
        holder.join()
    assert not is_in_onnx_export()


class Interrupted(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        signal.raise_signal(signal.SIGINT)
        return x + 1


@pytest.mark.parametrize("capture", ["auto", "quick", "torch", "trace"])
def test_an_interrupt_ends_the_export(capture: str) -> None:
    from sardonyx._base.state import is_in_onnx_export

    # A run in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _assert_interrupted(capture)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not is_in_onnx_export()
    assert export(Branches(2), 2).input_names == ["x"]


def _assert_interrupted(capture: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        sardonyx.export(Interrupted(), (torch.ones(2),), capture=capture)

"""Fake-tensor tracing compared with torch.export, with dynamic dimensions.

Both take interleaved runs in one process on one thread.

`make bench-capture` prints a table of seconds of CPU time, which other processes disturb least:
the first call of each in the process, and the minimum of some later ones. The values of weights do
not matter, so that models have their published layers and, where that is said, fewer features.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tests.models.decoding import cached_decoder
from tests.models.zoo import ZOO, Example

import sardonyx
from sardonyx._capture.capture import FakeTracing, capture
from sardonyx._capture.shapes.dynamic_shapes import prepare
from sardonyx._transformers_private.registration import register_caches

SUBJECTS: dict[str, Callable[[], Example]] = {
    "GPT-2": lambda: ZOO.build("gpt2", "full"),
    "BERT": lambda: ZOO.build("bert", "full"),
    "Llama of 16 thin layers with cache": lambda: cached_decoder("llama", num_hidden_layers=16),
    "Swin-T": lambda: ZOO.build("swin", "full"),
    "T5": lambda: ZOO.build("t5", "full"),
    "Whisper": lambda: ZOO.build("whisper", "full"),
}


@dataclass(frozen=True)
class Timed:
    """Seconds of CPU time."""

    first: float
    warm: float


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", help="separated by commas; all by default")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    chosen = options.models.split(",") if options.models else list(SUBJECTS)
    print("| model | torch.export first, warm (s) | quick first, warm (s) | times faster, warm |")
    print("|---|---|---|---|")
    for name in chosen:
        usual, quick = compared(SUBJECTS[name](), options.rounds)
        print(
            f"| {name} | {usual.first:.2f}, {usual.warm:.2f} | {quick.first:.2f}, {quick.warm:.2f} "
            f"| {usual.warm / quick.warm:.1f} |",
            flush=True,
        )
    if options.models is None or "BERT" in chosen:
        print(f"\nBERT exported to a saved file, warm: {saved(options.rounds):.2f} s")


def compared(example: Example, rounds: int) -> tuple[Timed, Timed]:
    """torch.export's times, and fake-tensor tracing's."""
    register_caches(example.model)
    inputs = example.inputs
    kwargs = dict(inputs.kwargs)
    dynamic = prepare(example.model, inputs.args, kwargs, example.dynamic_shapes)

    def run(quick: FakeTracing) -> float:
        began = time.process_time()
        capture(example.model, inputs.args, kwargs, dynamic, report=lambda _: None, quick=quick)
        return time.process_time() - began

    times: dict[FakeTracing, list[float]] = {FakeTracing.NO: [], FakeTracing.ALONE: []}
    for _ in range(rounds + 1):
        for quick, seconds in times.items():
            seconds.append(run(quick))
    usual, ours = (Timed(each[0], min(each[1:])) for each in times.values())
    return usual, ours


def saved(rounds: int) -> float:
    """Seconds of CPU time to export BERT-base to a file, after a first export."""
    example = ZOO.build("bert", "full")
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            began = time.process_time()
            _export(example, Path(folder) / "bert.onnx")
            seconds.append(time.process_time() - began)
    return min(seconds[1:])


def _export(example: Example, path: Path) -> Any:
    return sardonyx.export(
        example.model,
        example.inputs.args,
        path,
        kwargs=dict(example.inputs.kwargs),
        dynamic_shapes=example.dynamic_shapes,
        capture="quick",
    )


if __name__ == "__main__":
    main()

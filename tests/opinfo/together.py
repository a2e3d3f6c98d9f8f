"""Several calls captured, exported and run as one program, in a fraction of the time.

Each has inputs and sizes of its own, and is compared by itself. `Failed` says that there is no such
program, or none that runs; what to make of that is seen from each call alone.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import torch

from tests.opinfo.capture import (
    Captured,
    LiveCall,
    Trial,
    answers_in_float32,
    capture_module,
    export_program,
    grown,
    grown_shapes,
    run_eager,
    same_answers,
)
from tests.opinfo.exporter import Exporter
from tests.opinfo.judge import check_model, compare
from tests.opinfo.rules import Rule
from tests.opinfo.runtime import Session

Tensors = list[torch.Tensor]


class Failed(Exception):
    """Why there are no answers of the calls together."""


@dataclass(frozen=True)
class Part:
    """A call among others: a module and the tensors it is captured on."""

    module: torch.nn.Module
    tensors: tuple[torch.Tensor, ...]

    def fits(self) -> bool:
        """Whether its tensors can be copied as they lie in memory: an input of two calls must be
        two inputs of the program."""
        return all(
            type(t) is torch.Tensor
            and t.layout is torch.strided
            and not (t.is_nested or t.is_quantized or t.is_conj() or t.is_neg())
            and torch.ops.aten.is_non_overlapping_and_dense(t)
            for t in self.tensors
        )


class _Together(torch.nn.Module):
    def __init__(self, parts: list[Part]) -> None:
        super().__init__()
        self.calls = [part.module for part in parts]
        self.counts = [len(part.tensors) for part in parts]

    def forward(self, *tensors: torch.Tensor) -> list[Any]:
        spans = _split(list(tensors), self.counts)
        return [call(*span) for call, span in zip(self.calls, spans, strict=True)]


class Together:
    """Parts that fit, as one captured program."""

    def __init__(self, parts: list[Part], dynamic: bool) -> None:
        self._parts = parts
        self._dynamic = dynamic
        try:
            self.trials = [[run_eager(part.module, list(part.tensors))] for part in parts]
            if any(not t.expected or t.scalars for (t,) in self.trials):
                raise Failed("a result is no tensor")
            self.program = export_program(_Together(parts), self._inputs(0), dynamic)
            if dynamic:
                self._try_other_sizes()
        except Exception as error:
            raise Failed(f"not captured together: {error}") from error

    def _inputs(self, number: int) -> Tensors:
        """Of all parts; a part that has no such trial is given its first inputs."""
        chosen = [trials[number if number < len(trials) else 0] for trials in self.trials]
        return [tensor.clone() for trial in chosen for tensor in trial.inputs]

    def _try_other_sizes(self) -> None:
        """Adds a trial to each part that eager PyTorch and the program take at other sizes."""
        counts = [len(part.tensors) for part in self._parts]
        shapes = _split(grown_shapes(self.program, self._inputs(0)), counts)
        for part, own, trials in zip(self._parts, shapes, self.trials, strict=True):
            larger = grown(part.tensors, own)
            if larger is not None and (trial := _attempt(part.module, larger)) is not None:
                trials.append(trial)
        if max(map(len, self.trials)) == 1:
            return
        again = run_eager(self.program.module(), self._inputs(1)).expected
        answers = _split(again, [len(trials[-1].expected) for trials in self.trials])
        for trials, answer in zip(self.trials, answers, strict=True):
            if len(trials) > 1 and not same_answers(answer, trials[1].expected):
                del trials[1]

    @functools.cache  # noqa: B019 - lives as long as the test's table
    def differences(self, exporter: Exporter, rule: Rule, opset: int) -> list[str]:
        """What is wrong with each part's answers; empty where nothing is."""
        found = [""] * len(self._parts)
        for number, answers in enumerate(self._answers(exporter, opset)):
            for place, trials in enumerate(self.trials):
                if number < len(trials) and not found[place]:
                    trials[number].in_float32 = functools.partial(
                        self._in_float32, place, trials[number]
                    )
                    found[place] = compare(rule, trials[number], answers[place]) or ""
        return found

    @functools.cache  # noqa: B019 - lives as long as the test's table
    def _answers(self, exporter: Exporter, opset: int) -> list[list[Tensors]]:
        """Of each run, of each part."""
        live = LiveCall(_Together(self._parts), tuple(self._inputs(0)), self._dynamic)
        captured = Captured("captured", program=self.program, live=live)
        counts = [len(trials[0].expected) for trials in self.trials]
        try:
            model = exporter.convert(captured, opset)
            check_model(model)
            session = Session(model)
            runs = max(map(len, self.trials))
            return [_split(session.run(self._inputs(n)), counts) for n in range(runs)]
        except Exception as error:
            raise Failed(f"{type(error).__name__}: {error}") from error

    def _in_float32(self, place: int, trial: Trial) -> Tensors:
        part = self._parts[place]
        alone = capture_module(part.module, list(part.tensors), self._dynamic)
        return answers_in_float32(alone.exported(), trial)


def _split(items: list[Any], counts: list[int]) -> list[list[Any]]:
    """The first so many, the next so many, ...; what is left over belongs to none."""
    ends = list(itertools.accumulate(counts))
    return [items[end - count : end] for end, count in zip(ends, counts, strict=True)]


def _attempt(module: torch.nn.Module, tensors: Tensors) -> Trial | None:
    try:
        return run_eager(module, tensors)
    except Exception:
        return None

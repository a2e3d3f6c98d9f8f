"""A sample of the node models, another one for each commit: `make node-models` takes all."""

from __future__ import annotations

import pytest

from tests.harness.rotation import rotating
from tests.node_models.cases import Case, load_cases
from tests.node_models.outcomes import Outcome, judged

EVERY = 16
OPSETS = range(13, 29)


@pytest.fixture(scope="module")
def sample() -> list[Case]:
    return load_cases()[rotating(EVERY) :: EVERY]


def faults(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.is_fault]


@pytest.mark.parametrize("runtime", ["onnxruntime", "standard"])
def test_optimized_models_give_the_same_answers(sample: list[Case], runtime: str) -> None:
    assert len(sample) > 100
    for case in sample:
        assert not faults(judged(case, [runtime], [None]))


def test_models_of_other_opsets_give_the_same_answers_or_are_refused(sample: list[Case]) -> None:
    kinds = set()
    for i, case in enumerate(sample):
        opsets = [opset for opset in OPSETS if (opset + i) % 4 == 0]
        outcomes = judged(case, ["onnxruntime", "standard"], opsets)
        assert not faults(outcomes)
        kinds |= {outcome.kind for outcome in outcomes}
    assert "right" in kinds

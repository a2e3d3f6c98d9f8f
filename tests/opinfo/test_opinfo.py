"""A fixed part of the operator sweep: nothing may be wrong, and what was right stays right.

One case in 25, or one of SARDONYX_OPINFO_EVERY; of every operator, or of one of
SARDONYX_OPERATORS_EVERY.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import pytest

from tests.opinfo import exporter as exporters
from tests.opinfo.capture import capture
from tests.opinfo.catalogue import DEEP_DTYPES, Selection, cases, operators, units
from tests.opinfo.judge import CRASH, REFUSED, RUNTIME_REFUSED, WRONG, judge
from tests.opinfo.pool import quiet

quiet()

# Operators that a whole sweep found right in every float32 and int64 sample:
# python -m tests.opinfo --no-run --known tests/opinfo/known_right.json
KNOWN_RIGHT = frozenset(
    json.loads(Path(__file__).with_name("known_right.json").read_text(encoding="utf-8"))
)
EVERY = int(os.environ.get("SARDONYX_OPINFO_EVERY", "25"))
OPERATORS_EVERY = int(os.environ.get("SARDONYX_OPERATORS_EVERY", "1"))


@pytest.mark.parametrize("op", operators()[::OPERATORS_EVERY])
def test_operator(op: str) -> None:
    selection = Selection(every=EVERY)
    failures = []
    for unit in units(selection, exact=op):
        never = {WRONG, CRASH}
        if op in KNOWN_RIGHT and unit.dtype in DEEP_DTYPES:
            never |= {REFUSED, RUNTIME_REFUSED}
        for case, sample in cases(unit, selection):
            outcome = judge(case, capture(case, sample), _exporter())
            if outcome.outcome in never:
                failures.append(f"{case.key}: {outcome.outcome} {outcome.code} {outcome.reason}")
    assert not failures, "\n".join(failures)


@functools.cache
def _exporter() -> exporters.Exporter:
    return exporters.load("sardonyx")

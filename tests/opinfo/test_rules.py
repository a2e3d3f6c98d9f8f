"""The judge judged: each rule accepts what is right and notices what is not."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import pytest
import torch

from tests.harness.rotation import long_test
from tests.opinfo.capture import Captured, Trial
from tests.opinfo.catalogue import Selection, units
from tests.opinfo.compare import form_differs, values_differ
from tests.opinfo.exporter import Exporter, Refused
from tests.opinfo.pool import Job, Pool
from tests.opinfo.rules import Rule, rule_for

NAN, INF = float("nan"), float("inf")


def verdict(op: str, inputs: object, expected: object, actual: object) -> str | None:
    def listed(values: object) -> list[torch.Tensor]:
        return list(values) if isinstance(values, (tuple, list)) else [values]  # type: ignore[list-item]

    return rule_for(op)(Trial(listed(inputs), listed(expected)), listed(actual))


def t(*values: float) -> torch.Tensor:
    return torch.tensor(values)


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        (t(1.0, NAN), t(1.0, NAN), True),
        (t(1.0, 2.0), t(1.0, NAN), False),
        (t(INF), t(INF), True),
        (t(INF), t(-INF), False),
        (t(3e38), t(INF), False),
        (t(1.0 + 1e-6), t(1.0), True),
        (t(1.01), t(1.0), False),
        (t(1, 2), t(1, 2), True),
        (t(1, 2), t(1, 3), False),
        (torch.tensor([True]), torch.tensor([False]), False),
        (torch.tensor([1 + 2j]), torch.tensor([1 - 2j]), False),
        (torch.empty(0), torch.empty(0), True),
        (t(1.0).double() + 1e-6, t(1.0).double(), False),
    ],
)
def test_values(actual: torch.Tensor, expected: torch.Tensor, same: bool) -> None:
    assert (values_differ(actual, expected) is None) == same


def test_form() -> None:
    assert form_differs(torch.ones(2), torch.ones(2)) is None
    assert form_differs(torch.ones(2), torch.ones(2, 1)) is not None
    assert form_differs(torch.ones(2), torch.ones(2).double()) is not None
    assert form_differs(torch.ones(2, 2), torch.ones(2, dtype=torch.complex64)) is None
    assert form_differs(torch.ones(2), torch.ones(2, dtype=torch.complex64)) is not None


def test_scaled_forgives_rounding_of_large_terms_only() -> None:
    expected = t(1e6, 0.0)
    assert verdict("mm", expected, expected, t(1e6, 0.5)) is None
    assert verdict("mm", expected, expected, t(1e6, 50.0)) is not None
    assert verdict("add", expected, expected, t(1e6, 0.5)) is not None


def test_half_types_may_be_computed_in_float32() -> None:
    eager, wide, other = t(1.0).bfloat16(), t(2.0).bfloat16(), t(3.0).bfloat16()
    trial = Trial([eager], [eager], in_float32=lambda: [wide])
    rule = rule_for("nn.functional.grid_sample")
    assert rule(trial, [eager]) is None
    assert rule(trial, [wide]) is None
    assert rule(trial, [other]) is not None
    assert rule(Trial([eager], [eager.float()], in_float32=lambda: [wide]), [wide]) is not None


def test_ties() -> None:
    source = t(3, 1, 3, 2)
    expected = source.topk(1)
    other = 2 - int(expected.indices)
    assert verdict("topk", source, expected, (t(3), t(other))) is None
    assert verdict("topk", source, expected, (t(3), t(1))) is not None
    assert verdict("topk", source, expected, (t(2), t(other))) is not None


def test_ties_in_argsort() -> None:
    source = t(2, 1, 2)
    assert verdict("argsort", source, t(1, 0, 2), t(1, 2, 0)) is None
    assert verdict("argsort", source, t(1, 0, 2), t(0, 1, 2)) is not None


def test_reconstruction() -> None:
    matrix = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    assert verdict("linalg.svd", matrix, (u, s, v), (-u, s, -v)) is None
    assert verdict("linalg.svd", matrix, (u, s, v), (-u, s, v)) is not None
    q, r = torch.linalg.qr(matrix)
    assert verdict("linalg.qr", matrix, (q, r), (-q, -r)) is None
    assert verdict("linalg.qr", matrix, (q, r), (q, -r)) is not None


def test_random() -> None:
    drawn = torch.rand(100)
    assert verdict("bernoulli", drawn, drawn.round(), drawn.flip(0).round()) is None
    assert verdict("bernoulli", drawn, drawn.round(), drawn) is not None
    assert verdict("rand_like", drawn, drawn, drawn.flip(0)) is None
    assert verdict("rand_like", drawn, drawn, torch.full((100,), 0.5)) is not None
    assert verdict("exponential", drawn, drawn, drawn - 2) is not None
    assert verdict("empty", drawn, drawn, drawn * 0) is None
    assert verdict("uniform", drawn, drawn, drawn + 200) is not None
    assert verdict("randint_like", drawn, drawn.round(), drawn.round() * 10) is not None
    assert verdict("multinomial", t(0.0, 1.0, 1.0), t(1, 2), t(2, 1)) is None
    assert verdict("multinomial", t(0.0, 1.0, 1.0), t(1, 2), t(0, 1)) is not None


def test_random_windows() -> None:
    image = torch.arange(9.0).reshape(1, 1, 3, 3)
    picked, places = image[..., 1:, 1:], torch.tensor([[[[4, 5], [7, 8]]]])
    op = "nn.functional.fractional_max_pool2d"
    assert verdict(op, image, picked, image[..., :2, :2]) is None
    assert verdict(op, image, picked, picked + 0.5) is not None
    assert verdict(op, image, (picked, places), (picked, places)) is None
    assert verdict(op, image, (picked, places), (picked, places - 1)) is not None


def test_dropout() -> None:
    source = torch.arange(1.0, 9.0)
    expected = torch.where(source % 2 == 0, source * 2, 0)
    op = "nn.functional.dropout"
    assert verdict(op, source, expected, torch.where(source > 3, source * 2, 0)) is None
    assert verdict(op, source, expected, source) is None
    assert verdict(op, source, expected, torch.where(source > 3, source * 3, 0)) is not None


@pytest.mark.parametrize("op", ["add", "mm", "topk", "linalg.eigh", "nn.functional.rrelu"])
def test_a_nan_is_never_right(op: str) -> None:
    source = torch.eye(3)
    expected = {"topk": source.topk(2), "linalg.eigh": torch.linalg.eigh(source)}.get(op, source)
    spoilt = [torch.full_like(v, NAN) if v.is_floating_point() else v for v in list(expected)]
    if isinstance(expected, torch.Tensor):
        spoilt = [torch.full_like(expected, NAN)]
    assert verdict(op, source, expected, spoilt) is not None


class Misbehaving(Exporter):
    """Refuses, raises, crashes or hangs, as the operator's name asks."""

    def convert(self, captured: Captured, opset: int) -> bytes:
        target = captured.targets[0]
        if "sin" in target:
            raise Refused("SX1301", "no sines", target)
        if "cos" in target:
            ctypes.string_at(0)
        if "tan" in target:
            time.sleep(60)
        raise ValueError("neither a model nor a diagnostic")


@long_test(1)
def test_workers_survive(tmp_path: Path) -> None:
    selection = Selection(
        ops="^(sin|cos|tan|exp)$",
        dtypes=("float32",),
        limit=1,
        modes=("static",),
        variants=("function",),
    )
    job = Job(selection, Misbehaving(), tmp_path, seconds=8)
    records = list(Pool(job, 2).run(units(selection), set()))
    outcomes = {(r["key"].split("|")[0], r["outcome"]) for r in records}
    assert outcomes == {
        ("sin", "refused"),
        ("cos", "crash"),
        ("tan", "timeout"),
        ("exp", "crash"),
    }
    again = list(Pool(job, 2).run(units(selection), {r["key"] for r in records}))
    assert again == []


def test_every_rule_has_an_operator() -> None:
    from tests.opinfo import rules
    from tests.opinfo.catalogue import operators

    used: set[Rule] = {rule_for(op) for op in operators()}
    listed = {rule for _, rule in rules._RANDOM + rules._DETERMINISTIC}
    assert listed <= used


def test_projections_are_judged_by_what_any_random_start_keeps() -> None:
    a, b = torch.diag(t(9.0, 3.0, 1.0)).double(), torch.eye(3).double()
    u, s, vh = torch.linalg.svd(a @ b.mT, full_matrices=False)
    found = [u[:, :2], s[:2], vh[:2].mH]
    least = [u[:, 1:3], s[1:3], vh[1:3].mH]
    assert verdict("svd_lowrank", (a, b), found, [-found[0], found[1], -found[2]]) is None
    assert verdict("svd_lowrank", (a, b), found, [found[0], found[1], -found[2]]) is not None
    assert verdict("svd_lowrank", (a, b), found, least) is not None


def test_sums_in_half_types_may_be_rounded_as_often_as_they_have_terms() -> None:
    into, mask = torch.zeros(2).half(), torch.ones(40, dtype=torch.bool)
    index, values = torch.zeros(40, dtype=torch.int64), torch.full((40,), 0.1).half()
    inputs = (into, mask, index, values)
    op, right = "_unsafe_masked_index_put_accumulate", torch.tensor([4.0, 0.0]).half()
    assert verdict(op, inputs, right, torch.tensor([4.02, 0.0]).half()) is None
    assert verdict(op, inputs, right, torch.tensor([4.2, 0.0]).half()) is not None
    assert verdict(op, inputs, right, torch.tensor([4.0, 0.01]).half()) is not None


def test_rules_from_mathematics() -> None:
    x = torch.tensor([-5.4215280659972755, 1.0], dtype=torch.float64)
    eager = torch.tensor([-0.03378150176924146, 0.7651976865579666], dtype=torch.float64)
    right = torch.tensor([-0.0337813127882606, 0.7651976865579666], dtype=torch.float64)
    assert verdict("special.bessel_j0", x, eager, right) is None
    assert verdict("special.bessel_j0", x, eager, right + 1e-5) is not None
    a, b = torch.randn(4, 2), torch.randn(4, 2)
    inverse = torch.linalg.pinv(a @ b.mT)
    assert verdict("linalg.pinv.singular", (a, b), inverse, inverse) is None
    assert verdict("linalg.pinv.singular", (a, b), inverse, inverse * 1.1) is not None
    zero = torch.zeros(2, 4, 0)
    answers = torch.zeros(2, 4, 4), torch.ones(2, 4, 4)
    assert verdict("linalg.pinv.singular", (zero, zero), answers[0], answers[0]) is None
    assert verdict("linalg.pinv.singular", (zero, zero), *answers) is not None
    factor, info = torch.eye(2).repeat(2, 1, 1), torch.tensor([0, 1])
    garbage = torch.stack([torch.eye(2), torch.full((2, 2), NAN)])
    assert verdict("linalg.cholesky_ex", factor, (factor, info), (garbage, info)) is None
    assert (
        verdict("linalg.cholesky_ex", factor, (factor, info), (garbage.flip(0), info)) is not None
    )
    assert verdict("signal.windows.kaiser", (), t(NAN, 1.0), t(0.0, 1.0)) is None
    assert verdict("signal.windows.kaiser", (), t(NAN, 1.0), t(5.0, 1.0)) is not None

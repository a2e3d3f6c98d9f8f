"""Dropout at work: the draws are the runtime's own, what they are made into is PyTorch's."""

# A row reads as a program: the lambda stays though the function could be named alone.

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from tests.operators.check import Case, check, table
from tests.operators.inputs import INF, floats, ints, of

if TYPE_CHECKING:
    from tests.opinfo.capture import Trial

aten = torch.ops.aten
MANY = floats(60, 40, 3)
SEQUENCE = floats(5, 2, 3)


def alike(trial: Trial, actual: list[torch.Tensor]) -> str | None:
    """The same few values as eager's, each as often up to six standard errors; one value a channel
    where eager's channels have one."""
    for drawn, expected in zip(actual, trial.expected, strict=True):
        got, want = drawn.double().flatten(2), expected.double().flatten(2)
        channels = want.numel()
        if torch.equal(want, want[..., :1].expand_as(want)):
            channels //= want.shape[2]
            if not torch.equal(got, got[..., :1].expand_as(got)):
                return "values: they differ within a channel"
        for value in want.unique():
            share = [float(x.isclose(value).double().mean()) for x in (got, want)]
            if abs(share[0] - share[1]) > 6 * (0.5 / channels) ** 0.5:
                return f"values: {value} in a share of {share[0]} for {share[1]}"
    return None


@table(
    (lambda x: F.dropout(torch.ones_like(x), 0.3), MANY),
    (lambda x: F.dropout(torch.ones_like(x), 0.9), MANY.double()),
    (lambda x: F.dropout1d(torch.ones_like(x), 0.3), MANY),
    (lambda x: F.dropout2d(torch.ones_like(x), 0.5), MANY.reshape(60, 40, 3, 1)),
    (lambda x: F.dropout3d(torch.ones_like(x), 0.5), MANY.half().reshape(60, 40, 1, 3, 1)),
    (lambda x: F.alpha_dropout(torch.ones_like(x), 0.3), MANY),
    (lambda x: F.alpha_dropout(torch.ones_like(x), 0.3), MANY.bfloat16()),
    (lambda x: F.feature_alpha_dropout(torch.ones_like(x), 0.4), MANY),
    (lambda x: aten.native_dropout(torch.ones_like(x), 0.4, None), MANY),
    (
        lambda x: F.scaled_dot_product_attention(
            x[..., :2] * 0, x[:, :2, :2] * 0, torch.eye(2).expand(x.shape[0], 2, 2), dropout_p=0.3
        ),
        MANY,
    ),
)
def test_draws(case: Case) -> None:
    check(case, alike)


@table(
    (lambda x: F.dropout(x, 1.0), of(1.0, INF)),
    (lambda x: F.dropout2d(x, 1.0), floats(2, 3, 4, 4)),
    (lambda x: F.alpha_dropout(x, 1.0), floats(2, 3)),
    (lambda x: F.feature_alpha_dropout(x, 1.0), floats(2, 3, 4)),
    (lambda x: F.dropout(x, 1.0), ints(3, 4)),
    (lambda x: F.dropout(x, 0.5), floats(0, 3)),
    (lambda x: F.dropout2d(x, 0.5), floats(2, 0, 3, 3)),
    (lambda x: aten.native_dropout(x, 1.0, True), floats(3, 4)),
    (lambda x: aten.native_dropout(x, 1.0, False), floats(3, 4)),
    (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=1.0), floats(2, 5, 4)),
    (torch.nn.RNN(3, 4, 2, dropout=1.0), SEQUENCE),
    (torch.nn.LSTM(3, 4, 3, dropout=1.0, bidirectional=True, batch_first=True), SEQUENCE),
)
def test_where_nothing_is_left_to_chance(case: Case) -> None:
    check(case)

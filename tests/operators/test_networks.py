"""Activations, normalization, losses, attention, recurrent layers, embeddings."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import sardonyx
from tests.harness import assert_exports, capture
from tests.operators.check import Case, check, table
from tests.operators.inputs import INF, NAN, bools, floats, ints, of, positive, scalar, specials
from tests.opinfo.rules import scaled

with suppress(ImportError):  # since 2.12; it defines the operator
    import torch.nn.modules.linear_cross_entropy

HAS_LINEAR_CROSS_ENTROPY = hasattr(torch.ops.torch_nn, "_linear_cross_entropy_batch_chunked")
aten = torch.ops.aten
X = floats(3, 4)
A = torch.ops.aten
IMAGE = floats(2, 4, 3, 5)
Q = floats(2, 4, 5, 8)
K = floats(2, 4, 6, 8, seed=11)
V = floats(2, 4, 6, 8, seed=12)


def linear_cross_entropy(
    x: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, reduction: str
) -> tuple[torch.Tensor, ...]:
    """In chunks of two samples, with class weights, the gradients of all but the bias, and class 2
    ignored."""
    bias, classes = torch.linspace(-1, 1, 5), torch.tensor([0.5, 1.0, 2.0, 1.0, 3.0])
    gradients = (True, True, False)
    loss: tuple[torch.Tensor, ...] = torch.ops.torch_nn._linear_cross_entropy_batch_chunked(
        x, weight, target, bias, classes, reduction, 2, 0.0, 2, "balanced", x.dtype, False,
        *gradients,
    )  # fmt: skip
    return loss


@table(
    (lambda x: F.relu(x), specials()),
    (lambda x: F.relu(x), ints(4)),
    (lambda x: F.relu6(x), specials()),
    (lambda x: F.leaky_relu(x, 0.2), specials()),
    (lambda x: F.elu(x), specials()),
    (lambda x: F.elu(x, 0.5), floats(5)),
    (lambda x: F.celu(x, 1.7), specials()),
    (lambda x: F.selu(x), specials()),
    (lambda x: F.gelu(x), floats(9) * 3),
    (lambda x: F.gelu(x, approximate="tanh"), specials()),
    (lambda x: F.silu(x), specials()),
    (lambda x: F.mish(x), specials()),
    (lambda x: F.softplus(x), specials()),
    (lambda x: F.softplus(x, beta=2, threshold=1), floats(5) * 3),
    (lambda x: F.softsign(x), specials()),
    (lambda x: F.softshrink(x, 0.3), specials()),
    (lambda x: F.hardshrink(x, 0.7), specials()),
    (lambda x: F.tanhshrink(x), specials()),
    (lambda x: F.hardtanh(x, -0.7, 0.3), specials()),
    (lambda x: F.hardsigmoid(x), specials() * 3),
    (lambda x: F.hardswish(x), specials() * 3),
    (lambda x: F.logsigmoid(x), specials()),
    (lambda x: F.glu(x), X),
    (lambda x: F.glu(x, 0), floats(4, 3)),
    (lambda x, w: F.prelu(x, w), floats(2, 3, 4), floats(3)),
    (lambda x, w: F.prelu(x, w), floats(4), floats(1)),
    (lambda x, w: F.prelu(x, w), floats()[()] - 2, floats(1)),
    (lambda x: F.rrelu(x, training=False), specials()),
    (lambda x: F.dropout(x, 0.5, training=False), X),
    (lambda x: F.alpha_dropout(x, 0.5, training=False), X),
    (lambda x: torch.ops.aten._safe_softmax(x, -1), of([1.0, -INF], [-INF, -INF], [NAN, -INF])),
    (lambda x: torch.ops.aten._safe_softmax(x, 0), floats(3, 4)),
    (lambda x: F.softmax(x, -1), X),
    (lambda x: F.softmax(x, 0), X),
    (lambda x: F.softmax(x, 1), floats(2, 3, 4)),
    (lambda x: F.softmax(x, 0), of(-INF, -INF)),
    (lambda x: F.softmax(x, 0), of(INF, 1.0)),
    (lambda x: F.softmax(x, 0), of(1000.0, 999.0)),
    (lambda x: F.softmax(x, 0), scalar(2.0)),
    (lambda x: F.softmax(x, 1), floats(2, 0)),
    (lambda x: F.softmax(x, 0, dtype=torch.float64), floats(3, dtype=torch.float16)),
    (lambda x: F.log_softmax(x, 1), X),
    (lambda x: F.log_softmax(x, 0), of(1000.0, -1000.0)),
    (lambda x: F.log_softmax(x, 0), of(1.0, NAN, -2.0, dtype=torch.float64)),
    (lambda x: F.log_softmax(x, 0), of(1.0, INF, -2.0, dtype=torch.float64)),
    (lambda x: F.log_softmax(x, 0), of(1e3, -INF, 999.0, dtype=torch.float64)),
    (lambda x: F.log_softmax(x, 1), floats(2, 0, dtype=torch.float64)),
    (lambda x: F.softmin(x, 1), X),
    (lambda x: F.normalize(x), X),
    (lambda x: F.normalize(x, p=1, dim=0), X),
    (lambda x: F.normalize(x), torch.zeros(2, 3)),
    (lambda x: F.layer_norm(x, (4,)), X),
    (lambda x, w, b: F.layer_norm(x, (4,), w, b, 1e-3), X, floats(4), floats(4)),
    (lambda x, w: F.layer_norm(x, (3, 4), w), floats(2, 3, 4), floats(3, 4)),
    (lambda x: F.layer_norm(x, (4,)), X * 1e4),
    (lambda x: F.layer_norm(x, (4,)), floats(3, 4, dtype=torch.float16)),
    (lambda x: F.rms_norm(x, (4,)), X),
    (lambda x, w: F.rms_norm(x, (4,), w, 1e-3), X, floats(4)),
    (lambda x: F.group_norm(x, 2), IMAGE),
    (lambda x, w, b: F.group_norm(x, 4, w, b), IMAGE, floats(4), floats(4)),
    (lambda x: F.group_norm(x, 2), floats(3, 4)),
    (lambda x: aten.native_group_norm(x, None, None, *x.shape[:2], 15, 2, 1e-5), IMAGE),
    (lambda x: aten.native_group_norm(x, None, None, *x.shape[:2], 15, 2, 1e-5)[0], IMAGE.half()),
    (
        lambda x, w, b: aten.native_group_norm(x, w, b, *x.shape, 1, 2, 1e-3),
        X,
        floats(4),
        floats(4),
    ),
    (lambda x: F.instance_norm(x), IMAGE),
    (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), floats(2, 4, 5), floats(4), floats(4)),
    (lambda x, m, v: F.batch_norm(x, m, v), IMAGE, floats(4), positive(4)),
    (
        lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, eps=0.1),
        X,
        floats(4),
        positive(4),
        floats(4),
        floats(4),
    ),
    (lambda x, m, v: F.batch_norm(x, m, v), floats(2, 4, 5), floats(4), positive(4)),
    (lambda x: F.batch_norm(x, None, None, training=True), IMAGE),
    (lambda x, m, v: F.batch_norm(x, m, v), floats(0, 5), floats(1), positive(1)),
    (lambda x, m, v: F.batch_norm(x, m, v, training=True), floats(0), floats(0), positive(0)),
    (lambda x: F.layer_norm(x, (0,)), floats(3, 0)),
    (
        lambda x, m, v: (
            F.instance_norm(x, m, v, use_input_stats=True, momentum=0.3),
            m + 0,
            v + 0,
        ),
        *(IMAGE, floats(4), positive(4)),
    ),
    (
        lambda x, w, b, m, v: torch.native_batch_norm(x, w, b, m, v, False, 0.1, 1e-5)[0],
        *(IMAGE, floats(4), floats(4), floats(4), positive(4)),
    ),
    (
        lambda x, w, b: torch.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5),
        *(IMAGE, floats(4), floats(4)),
    ),
    (
        lambda x, m, v: A._native_batch_norm_legit_functional(x, None, None, m, v, True, 0.3, 1e-5),
        *(IMAGE, floats(4), positive(4)),
    ),
    (
        lambda x, m, v: A._batch_norm_with_update_functional(x, m, v, m, v, 0.3, 1e-5)[4:],
        *(IMAGE, floats(4), positive(4)),
    ),
    (lambda x: A._native_batch_norm_legit.no_stats(x, None, None, True, 0.1, 1e-5), IMAGE),
    (
        lambda x, w, b: torch.native_group_norm(x, w, b, x.shape[0], 4, x.shape[2], 2, 1e-5),
        *(floats(2, 4, 5), floats(4), floats(4)),
    ),
    (lambda x: F.local_response_norm(x, 3), IMAGE),
    (lambda x: torch.renorm(x, 2, 0, 0.5), X),
    (lambda x: torch._weight_norm(x, x.sum((1, 2), keepdim=True), -3), floats(4, 3, 5)),
    (lambda x: torch._weight_norm(x, x.sum((0, 2), keepdim=True), -2), floats(4, 3, 5)),
    (lambda x: torch._weight_norm(x, x.sum(), -1), floats(4, 3, 5)),
    (lambda x: torch.norm_except_dim(x, 2, 0), floats(4, 3, 5)),
    (lambda x: torch.norm_except_dim(x, 1, 2), floats(4, 3, 5)),
    (lambda x: torch.norm_except_dim(x, 2, -1), floats(4, 3, 5)),
    (lambda x: torch.norm_except_dim(x), floats(4)),
    (lambda x: torch._weight_norm(x, x.sum((0, 1), keepdim=True), 2), floats(4, 3, 5)),
    (lambda x, y: F.mse_loss(x, y), X, floats(3, 4, seed=9)),
    (lambda x, y: F.mse_loss(x, y, reduction="none"), X, floats(3, 4, seed=9)),
    (lambda x, y: F.l1_loss(x, y, reduction="sum"), X, floats(3, 4, seed=9)),
    (lambda x, y: F.smooth_l1_loss(x, y, beta=0.5), X, floats(3, 4, seed=9)),
    (lambda x, y: F.smooth_l1_loss(x, y, beta=0.0), X, floats(3, 4, seed=9)),
    (lambda x, y: F.huber_loss(x, y, delta=0.5), X, floats(3, 4, seed=9)),
    (lambda x, y: F.cross_entropy(x, y), X, of(0, 3, 1)),
    (lambda x, y: F.cross_entropy(x, y, ignore_index=3), X, of(0, 3, 1)),
    (lambda x, y: F.cross_entropy(x, y, reduction="none"), X, of(0, -100, 1)),
    (lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), X, of(0, 3, 1)),
    (lambda x, y: F.cross_entropy(x, y), X, F.softmax(floats(3, 4, seed=9), 1)),
    (lambda x, y, w: F.cross_entropy(x, y, w), X, of(0, 3, 1), positive(4)),
    (lambda x, y: F.cross_entropy(x, y), floats(2, 4, 3), ints(2, 3, low=0, high=4)),
    (lambda x, y: F.nll_loss(x, y), X, of(0, 3, 1)),
    (lambda x, y, w: F.nll_loss(x, y, w, reduction="sum"), X, of(0, 3, 1), positive(4)),
    (lambda x, y: F.nll_loss(x, y, ignore_index=0), X, of(0, 0, 0)),
    (lambda x, y: aten.nll_loss_forward(x, y, None, 0, 0), X[0], scalar(2)),
    (lambda x, y: aten.nll_loss_forward(x, y, None, 0, 2), X[0], scalar(2)),
    (lambda x, y, w: aten.nll_loss_forward(x, y, w, 0, 0), X, of(0, 3, 1), positive(4)),
    (lambda x, y: F.kl_div(x, y, reduction="batchmean"), X, positive(3, 4)),
    (lambda x, y: F.kl_div(x, y, log_target=True, reduction="sum"), X, floats(3, 4, seed=9)),
    (lambda x, y: F.binary_cross_entropy(x, y), torch.sigmoid(X), bools(3, 4).float()),
    (lambda x, y: F.binary_cross_entropy(x, y), of(0.0, 1.0, 0.5), of(1.0, 1.0, 0.0)),
    (
        lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w),
        X * 50,
        bools(3, 4).float(),
        positive(4),
    ),
    (lambda x, y: F.hinge_embedding_loss(x, y), X, torch.where(bools(3, 4), 1, -1)),
    (lambda x, y, z: F.triplet_margin_loss(x, y, z), X, floats(3, 4, seed=9), floats(3, 4, seed=8)),
    (
        lambda x, y, z: F.margin_ranking_loss(x, y, z, 0.5, reduction="none"),
        of(3, 200, 7, dtype=torch.uint8),
        of(5, 100, 7, dtype=torch.uint8),
        of(1, 1, 1, dtype=torch.uint8),
    ),
    (
        lambda x, y, z: F.margin_ranking_loss(x, y, z, 0.1),
        floats(4),
        floats(4, seed=9),
        of(1, -1, 1, -1),
    ),
    (lambda x, y: F.soft_margin_loss(x, y), X, torch.where(bools(3, 4), 1.0, -1.0)),
    (
        lambda x, y: F.multilabel_margin_loss(x, y),
        X,
        of([0, 2, -1, 1], [3, -1, 0, 0], [1, 2, 3, 0]),
    ),
    (
        lambda x, y: F.multilabel_margin_loss(x, y, reduction="none"),
        of(NAN, 1.0, 2.0),
        of(1, -1, 0),
    ),
    (lambda x, y: F.multi_margin_loss(x, y, p=2), X, of(0, 3, 1)),
    (lambda x, y: F.multi_margin_loss(x, y, margin=0.3, reduction="sum"), X, of(0, 3, 1)),
    (lambda x, y, w: F.multi_margin_loss(x, y, weight=w), X, of(0, 3, 1), positive(4)),
    (lambda x, y: F.multi_margin_loss(x, y, reduction="none"), X[0], of(3)),
    (lambda x, y: F.multi_margin_loss(x, y, reduction="none"), X[0], scalar(3)),
    (lambda x, y: F.multi_margin_loss(x, y), of(NAN, 1.0, 2.0), scalar(1)),
    (lambda x, y: F.multi_margin_loss(x, y), scalar(0.3), scalar(0)),
    (lambda x, y: F.poisson_nll_loss(x, y, full=True), X, positive(3, 4) * 3),
    (lambda x, y, t: F.cosine_embedding_loss(x, y, t, 0.2), X, floats(3, 4, seed=9), of(1, -1, 1)),
    *(
        (lambda x, w, t, r=r: linear_cross_entropy(x, w, t, r), X, floats(5, 4), of(1, 2, 4))
        for r in ("mean", "sum")
        if HAS_LINEAR_CROSS_ENTROPY
    ),
    (
        lambda x, y, t: F.cosine_embedding_loss(x, y, t, reduction="none"),
        (X * 14).half(),
        (X * 14 + 1).half(),
        of(1, -1, 1),
    ),
    (
        lambda x, y, t: F.cosine_embedding_loss(x, y, t, reduction="none"),
        *((X * 1e-3).half(), (X * 1e-2 + 1e-3).half(), of(1, -1, 1)),
    ),
    (lambda x, y: F.cosine_similarity(x, y, dim=0), scalar(2.0), scalar(-3.0)),
    (lambda x, y: F.cosine_similarity(x, y, dim=-1), scalar(0.0), scalar(1.0)),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), Q, K, V),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), Q, K, V),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3), Q, K, V),
    (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), Q, K, V, floats(5, 6)),
    (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), Q, K, V, bools(2, 1, 5, 6)),
    (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), Q, K, V, bools(5, 6) & False),
    (lambda q, k, v: aten._scaled_dot_product_flash_attention_for_cpu(q, k, v), Q, K, V),
    (
        lambda q, k, v: aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)[0],
        Q,
        K[:, :2],
        V[:, :2],
    ),
    (
        lambda q, k, v: aten._scaled_dot_product_flash_attention_for_cpu(
            q, k, v, is_causal=True, scale=0.3
        ),
        Q,
        K,
        V,
    ),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), Q[0], K[0], V[0]),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), Q[0, 0], K[0, 0], V[0, 0]),
    (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        Q,
        K[:, :2],
        V[:, :2],
    ),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), Q, K, V[..., :3]),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), Q.half(), K.half(), V.half()),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), Q, K, V[:0]),
    (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), Q, K[:, :, :0], V[:0, :, :0, :3]),
    (lambda i, w: F.embedding(i, w), ints(2, 3, low=0, high=5), floats(5, 4)),
    (lambda i, w: F.embedding(i, w, padding_idx=1), ints(2, 3, low=0, high=5), floats(5, 4)),
    (lambda i, w: F.embedding(i, w), scalar(2), floats(5, 4)),
    (lambda i, w: F.embedding(i, w), of(1, 2, dtype=torch.int32), floats(5, 4)),
    (lambda i, w: F.embedding(i, w), torch.empty(0, dtype=torch.int64), floats(5, 4)),
    (lambda i, w: F.embedding_bag(i, w, mode="sum"), ints(2, 3, low=0, high=5), floats(5, 4)),
    (lambda i, w: F.embedding_bag(i, w), ints(2, 3, low=0, high=5), floats(5, 4)),
    (
        lambda i, w, p: F.embedding_bag(i, w, mode="sum", per_sample_weights=p),
        ints(2, 3, low=0, high=5),
        floats(5, 4),
        floats(2, 3),
    ),
    (lambda i: F.one_hot(i, 5), of(0, 4, 2)),
    (lambda i: F.one_hot(i, 3), of([0, 1], [2, 2])),
)
def test_networks(case: Case) -> None:
    check(case, scaled)


def _layer(layer: torch.nn.Module, *inputs: torch.Tensor) -> tuple:  # type: ignore[type-arg]
    torch.manual_seed(0)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return (layer.eval().requires_grad_(False), *inputs)


class TurnedBatch(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 4).half()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.linear(x.transpose(0, 1)), self.linear(x.permute(1, 2, 0).mT)


SEQUENCE = floats(5, 2, 3)
LAYERS = {
    "lstm": _layer(torch.nn.LSTM(3, 4), SEQUENCE),
    "lstm batch first": _layer(torch.nn.LSTM(3, 4, batch_first=True), SEQUENCE),
    "lstm two layers, bidirectional": _layer(torch.nn.LSTM(3, 4, 2, bidirectional=True), SEQUENCE),
    "lstm without bias": _layer(torch.nn.LSTM(3, 4, bias=False), SEQUENCE),
    "lstm projected": _layer(torch.nn.LSTM(3, 4, proj_size=2), SEQUENCE),
    "lstm projected, two layers, bidirectional": _layer(
        torch.nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True, bias=False), SEQUENCE
    ),
    "lstm unbatched": _layer(torch.nn.LSTM(3, 4), floats(5, 3)),
    "gru": _layer(torch.nn.GRU(3, 4), SEQUENCE),
    "gru two layers, bidirectional": _layer(torch.nn.GRU(3, 4, 2, bidirectional=True), SEQUENCE),
    "gru with state": _layer(torch.nn.GRU(3, 4), SEQUENCE, floats(1, 2, 4)),
    "rnn": _layer(torch.nn.RNN(3, 4), SEQUENCE),
    "rnn relu, batch first": _layer(
        torch.nn.RNN(3, 4, nonlinearity="relu", batch_first=True), SEQUENCE
    ),
    "lstm cell": _layer(torch.nn.LSTMCell(3, 4), floats(2, 3)),
    "gru cell": _layer(torch.nn.GRUCell(3, 4), floats(2, 3)),
    "rnn cell": _layer(torch.nn.RNNCell(3, 4), floats(2, 3)),
    "lstm in float64": _layer(torch.nn.LSTM(3, 4, 2).double(), SEQUENCE.double()),
    "gru in float64": _layer(torch.nn.GRU(3, 4).double(), SEQUENCE.double()),
    "gru bidirectional in float64": _layer(
        torch.nn.GRU(3, 4, 2, bidirectional=True, batch_first=True).double(), SEQUENCE.double()
    ),
    "rnn in float64": _layer(torch.nn.RNN(3, 4).double(), SEQUENCE.double()),
    "rnn relu in float64": _layer(
        torch.nn.RNN(3, 4, nonlinearity="relu", bias=False).double(), SEQUENCE[:, 0].double()
    ),
    "linear of a turned batch in float16": _layer(TurnedBatch(), floats(2, 5, 3).half()),
    "multi-head attention": _layer(torch.nn.MultiheadAttention(8, 2), *[floats(5, 2, 8)] * 3),
    "encoder layer": _layer(torch.nn.TransformerEncoderLayer(8, 2, 16), floats(5, 2, 8)),
    "decoder layer": _layer(
        torch.nn.TransformerDecoderLayer(8, 2, 16), floats(5, 2, 8), floats(4, 2, 8)
    ),
    "weight norm": _layer(
        torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 4)), floats(2, 3)
    ),
    "spectral norm": _layer(
        torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 4)), floats(2, 3)
    ),
    "batch norm": _layer(torch.nn.BatchNorm2d(4), IMAGE),
    "conv, batch norm, relu": _layer(
        torch.nn.Sequential(
            torch.nn.Conv2d(4, 6, 3, padding=1), torch.nn.BatchNorm2d(6), torch.nn.ReLU()
        ),
        IMAGE,
    ),
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, dynamic: bool) -> None:
    layer, *inputs = LAYERS[name]
    check(Case(layer, tuple(inputs), dynamic), scaled)


LAYER = (floats(24, 8), floats(24), floats(8, 8), floats(8), floats(8), floats(8), floats(8))
LAYER += (floats(8), floats(16, 8), floats(16), floats(8, 16), floats(8))
SEQUENCES = floats(3, 5, 8)
PADDING = torch.arange(5) >= of([5], [3], [1])


def encoder_layer(gelu: bool, norm_first: bool, mask_type: int | None = None) -> Any:
    """nn.TransformerEncoderLayer with 2 heads as PyTorch's inference kernel."""

    def function(x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        attention, others, mask = rest[:4], rest[4:12], rest[12:] or (None,)
        flags = (gelu, norm_first, 1e-5)
        return torch.ops.aten._transformer_encoder_layer_fwd(
            x, 8, 2, *attention, *flags, *others, *mask, mask_type
        )

    return function


def own_attention(x: torch.Tensor, memory: torch.Tensor, *rest: torch.Tensor, **flags: Any) -> Any:
    attend = torch.ops.aten._native_multi_head_attention
    return attend(x, memory, memory, 8, 2, *rest, **flags)


@table(
    (encoder_layer(False, False), SEQUENCES, *LAYER),
    (encoder_layer(True, True), SEQUENCES, *LAYER),
    (encoder_layer(False, True, 0), SEQUENCES, *LAYER, torch.ones(5, 5).triu(1).bool()),
    (encoder_layer(False, False, 1), SEQUENCES, *LAYER, PADDING),
    (encoder_layer(True, False, 1), SEQUENCES, *LAYER, PADDING * -INF),
    (encoder_layer(True, True, 2), SEQUENCES, *LAYER, bools(3, 2, 5, 5).logical_and(bools(5))),
    (lambda x, *w: own_attention(x, x, *w), SEQUENCES, *LAYER[:4]),
    (
        lambda x, *w: own_attention(x, x, *w, average_attn_weights=False, mask_type=1),
        SEQUENCES,
        *LAYER[:4],
        PADDING,
    ),
)
def test_inference_kernels_of_encoders(case: Case) -> None:
    check(case)


def test_encoder_layer_kept_whole_by_strict_capture() -> None:
    model = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    program = capture(model, (SEQUENCES,), strict=True)
    assert_exports(program, (SEQUENCES,), reference=model)


STEP, H = floats(5, 4), floats(5, 3, seed=4)
# Weights are those of the program: their sizes hang together.
FROM_INPUT, FROM_HIDDEN, GATES = floats(12, 4), floats(12, 3, seed=5), floats(12, seed=6)


@table(
    (
        lambda x, h: torch.gru_cell(x, h, FROM_INPUT[:9], FROM_HIDDEN[:9], GATES[:9], GATES[3:]),
        STEP,
        H,
    ),
    (lambda x, h: torch.gru_cell(x, h, FROM_INPUT[:9], FROM_HIDDEN[:9]), STEP, H),
    (lambda x, h: torch.lstm_cell(x, (h, h * 2), FROM_INPUT, FROM_HIDDEN, GATES, GATES), STEP, H),
    (lambda x, h: torch.lstm_cell(x, (h, h * 2), FROM_INPUT, FROM_HIDDEN)[1], STEP, H),
    (lambda x, h: torch.rnn_tanh_cell(x, h, FROM_INPUT[:3], FROM_HIDDEN[:3], GATES[:3]), STEP, H),
    (lambda x, h: torch.rnn_relu_cell(x, h, FROM_INPUT[:3], FROM_HIDDEN[:3]), STEP, H),
    (
        lambda x, h: torch.lstm_cell(x, (h, h), FROM_INPUT.double(), FROM_HIDDEN.double()),
        STEP.double(),
        H.double(),
    ),
    (
        lambda x, h: torch.gru_cell(x, h, FROM_INPUT[:9].half(), FROM_HIDDEN[:9].half()),
        STEP.half(),
        H.half(),
    ),
)
def test_cells(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("kind", [torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell])
def test_cells_need_no_decomposition(kind: type[torch.nn.RNNCellBase]) -> None:
    """The command line has none to offer."""
    cell = kind(4, 3).eval()
    program = sardonyx.export(cell, (STEP,), decompose=False)
    wanted = cell(STEP)
    states = wanted if isinstance(wanted, tuple) else (wanted,)
    for got, want in zip(program(STEP), states, strict=True):
        torch.testing.assert_close(got, want)

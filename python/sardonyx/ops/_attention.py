"""ONNX's Attention of opset 23 (https://onnx.ai/onnx/operators/onnx__Attention.html)."""

from __future__ import annotations

import math

import torch

from sardonyx._base.element_types import torch_dtypes

LIBRARY = torch.library.Library("sardonyx", "FRAGMENT")
LIBRARY.define(
    "Attention.opset23(Tensor Q, Tensor K, Tensor V, Tensor? attn_mask=None, "
    "Tensor? past_key=None, Tensor? past_value=None, *, bool is_causal=False, "
    "SymInt kv_num_heads=0, SymInt q_num_heads=0, SymInt qk_matmul_output_mode=0, "
    "float? scale=None, float softcap=0., SymInt? softmax_precision=None) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
_PRECISIONS = (1, 10, 11, 16)  # float32, float16, float64, bfloat16

Results = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]

# ruff: noqa: N803, PLR0917 (names and order are those of ONNX and torch.onnx.ops)


def attention(
    Q: torch.Tensor,
    K: torch.Tensor,
    V: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    past_key: torch.Tensor | None = None,
    past_value: torch.Tensor | None = None,
    *,
    is_causal: bool = False,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Results:
    """Scaled dot-product attention over a cache of keys and values.

    Parameters:
        Q, K, V: [batch, heads, length, head_size], or [batch, length, heads * head_size] with
            `q_num_heads` and `kv_num_heads`. Several query heads may share a key head.
        attn_mask: bools (True: may be seen) or numbers to add, broadcast to
            [batch, q_heads, length, total]; missing last columns count as not to be seen.
        past_key, past_value: what goes before K and V: [batch, kv_heads, past, head_size].
        is_causal: a query sees no key after its own position; the first one stands after the past.
        qk_matmul_output_mode: what the last result is: 0 the scores, 1 after `softcap`, 2 with the
            mask, too, 3 after the softmax.
        scale: of the scores; 1/sqrt(head_size) when None.
        softcap: scores become softcap * tanh(scores / softcap); 0: they stay.
        softmax_precision: ONNX's number of the type that the softmax is computed in.

    Returns the output, of the layout of Q; keys and values with those of the past; and what
    `qk_matmul_output_mode` says. Queries that see no key at all give zeros.
    """
    results: Results = torch.ops.sardonyx.Attention.opset23(
        Q,
        K,
        V,
        attn_mask,
        past_key,
        past_value,
        is_causal=is_causal,
        kv_num_heads=kv_num_heads,
        q_num_heads=q_num_heads,
        qk_matmul_output_mode=qk_matmul_output_mode,
        scale=scale,
        softcap=softcap,
        softmax_precision=softmax_precision,
    )
    return results


def compute_attention(
    Q: torch.Tensor,
    K: torch.Tensor,
    V: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    past_key: torch.Tensor | None = None,
    past_value: torch.Tensor | None = None,
    *,
    is_causal: bool = False,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Results:
    """The same, of ATen operators."""
    _check(Q, K, V, past_key, past_value, q_num_heads, kv_num_heads, softmax_precision)
    query, key, value = _heads(Q, q_num_heads), _heads(K, kv_num_heads), _heads(V, kv_num_heads)
    past = 0 if past_key is None else past_key.shape[2]
    present_key, present_value = _joined(past_key, key), _joined(past_value, value)
    group = query.shape[1] // present_key.shape[1]
    keys, values = (
        x.repeat_interleave(group, 1) if group != 1 else x for x in (present_key, present_value)
    )

    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = (query * root) @ (keys * root).transpose(-2, -1)
    stages = [scores]
    if softcap > 0:
        scores = torch.tanh(scores / softcap) * softcap
    stages.append(scores)
    bias = _bias(scores, attn_mask, is_causal, past)
    if bias is not None:
        scores = scores + bias
    stages.append(scores)
    precision = scores.dtype if softmax_precision is None else torch_dtypes()[softmax_precision]
    weights = torch.softmax(scores.to(precision), -1).to(query.dtype)
    if bias is not None:
        blind = (bias == -math.inf).all(-1, keepdim=True)
        weights = weights.masked_fill(blind, 0)
    stages.append(weights)

    output = weights @ values
    if Q.dim() == 3:
        output = output.transpose(1, 2).flatten(2)
    kept = stages[qk_matmul_output_mode]
    # None of the results may share memory with an input or with another result.
    return (
        output,
        present_key if past_key is not None else present_key.clone(),
        present_value if past_value is not None else present_value.clone(),
        kept.clone(),
    )


def _heads(x: torch.Tensor, count: int) -> torch.Tensor:
    return x if x.dim() == 4 else x.unflatten(2, (count, -1)).transpose(1, 2)


def _joined(past: torch.Tensor | None, new: torch.Tensor) -> torch.Tensor:
    return new if past is None else torch.cat((past, new), 2)


def _bias(
    scores: torch.Tensor, mask: torch.Tensor | None, is_causal: bool, past: int
) -> torch.Tensor | None:
    """What is added to the scores, [..., length, total]: -inf where a key is not to be seen."""
    length, total = scores.shape[-2], scores.shape[-1]
    bias: torch.Tensor | None = None
    if mask is not None:
        bias = _additive(mask, scores)
        if mask.shape[-1] < total:
            bias = torch.nn.functional.pad(bias, (0, total - mask.shape[-1]), value=-math.inf)
    if is_causal:
        rows = torch.arange(length, device=scores.device).unsqueeze(1) + past
        seen = torch.arange(total, device=scores.device) <= rows
        causal = _additive(seen, scores)
        bias = causal if bias is None else bias + causal
    return bias


def _additive(mask: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    if mask.dtype != torch.bool:
        return mask
    zeros = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
    return zeros.masked_fill(~mask, -math.inf)


def _check(
    Q: torch.Tensor,
    K: torch.Tensor,
    V: torch.Tensor,
    past_key: torch.Tensor | None,
    past_value: torch.Tensor | None,
    q_num_heads: int,
    kv_num_heads: int,
    softmax_precision: int | None,
) -> None:
    torch._check(
        Q.dim() in (3, 4) and Q.dim() == K.dim() == V.dim(),
        lambda: (
            f"Q, K and V must all have 3 or all have 4 dimensions, got {Q.dim()}, {K.dim()} "
            f"and {V.dim()}"
        ),
    )
    torch._check(
        Q.dim() == 4 or (q_num_heads != 0 and kv_num_heads != 0),
        lambda: "q_num_heads and kv_num_heads must be provided for 3D inputs",
    )
    torch._check(
        (past_key is None) == (past_value is None),
        lambda: "past_key and past_value must be given together",
    )
    torch._check(
        softmax_precision is None or softmax_precision in _PRECISIONS,
        lambda: f"softmax_precision must be one of {_PRECISIONS}, got {softmax_precision}",
    )


def _fake(
    Q: torch.Tensor,
    K: torch.Tensor,
    V: torch.Tensor,
    _attn_mask: torch.Tensor | None = None,
    past_key: torch.Tensor | None = None,
    past_value: torch.Tensor | None = None,
    *,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    softmax_precision: int | None = None,
    **_options: object,
) -> Results:
    _check(Q, K, V, past_key, past_value, q_num_heads, kv_num_heads, softmax_precision)
    flat = Q.dim() == 3
    batch, length = Q.shape[0], Q.shape[1 if flat else 2]
    heads, kv_heads = (q_num_heads, kv_num_heads) if flat else (Q.shape[1], K.shape[1])
    key_size = K.shape[2] // kv_heads if flat else K.shape[3]
    value_size = V.shape[2] // kv_heads if flat else V.shape[3]
    total = K.shape[1 if flat else 2]
    if past_key is not None:
        total = past_key.shape[2] + total
    shapes = (
        (batch, length, heads * value_size) if flat else (batch, heads, length, value_size),
        (batch, kv_heads, total, key_size),
        (batch, kv_heads, total, value_size),
        (batch, heads, length, total),
    )
    y, key, value, scores = (
        torch.empty(shape, dtype=like.dtype, device=like.device)
        for shape, like in zip(shapes, (Q, K, V, Q), strict=True)
    )
    return y, key, value, scores


LIBRARY.impl("Attention.opset23", compute_attention, "CompositeExplicitAutograd")
torch.library.register_fake("sardonyx::Attention.opset23", _fake, lib=LIBRARY)

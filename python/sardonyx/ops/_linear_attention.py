"""ONNX's LinearAttention of opset 27
(https://onnx.ai/onnx/operators/onnx__LinearAttention.html)."""

from __future__ import annotations

import math

import torch

from ._operator import onnx_operator

_SCHEMA = (
    "(Tensor query, Tensor key, Tensor value, Tensor? past_state=None, Tensor? decay=None, "
    'Tensor? beta=None, *, SymInt q_num_heads, SymInt kv_num_heads, str update_rule="gated_delta", '
    "float? scale=None) -> (Tensor, Tensor)"
)
# ruff: noqa: PLR0917 (names and order are those of ONNX)

# By name: whether a token's state is decayed, and whether what it holds of the key is taken off.
_RULES = {
    "linear": (False, False),
    "gated": (True, False),
    "delta": (False, True),
    "gated_delta": (True, True),
}

Results = tuple[torch.Tensor, torch.Tensor]


def _check(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    decay: torch.Tensor | None,
    beta: torch.Tensor | None,
    q_num_heads: int,
    kv_num_heads: int,
    update_rule: str,
) -> None:
    torch._check(
        query.dim() == key.dim() == value.dim() == 3,
        lambda: (
            f"query, key and value must have 3 dimensions, got {query.dim()}, {key.dim()} and "
            f"{value.dim()}"
        ),
    )
    torch._check(
        kv_num_heads > 0 and q_num_heads > 0 and q_num_heads % kv_num_heads == 0,
        lambda: (
            f"q_num_heads must be a multiple of kv_num_heads, got {q_num_heads} and {kv_num_heads}"
        ),
    )
    torch._check(
        update_rule in _RULES,
        lambda: f"update_rule must be one of {', '.join(_RULES)}, got {update_rule!r}",
    )
    decays, corrects = _RULES[update_rule]
    for needed, name, given in ((decays, "decay", decay), (corrects, "beta", beta)):
        torch._check(
            given is not None or not needed,
            lambda name=name: f"update_rule {update_rule!r} needs {name}",
        )


def _fake(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    past_state: torch.Tensor | None = None,
    decay: torch.Tensor | None = None,
    beta: torch.Tensor | None = None,
    *,
    q_num_heads: int,
    kv_num_heads: int,
    update_rule: str = "gated_delta",
    **_options: object,
) -> Results:
    _check(query, key, value, decay, beta, q_num_heads, kv_num_heads, update_rule)
    batch, length = query.shape[0], query.shape[1]
    key_size, value_size = key.shape[2] // kv_num_heads, value.shape[2] // kv_num_heads
    state = query if past_state is None else past_state
    return (
        query.new_empty(batch, length, q_num_heads * value_size),
        state.new_empty(batch, kv_num_heads, key_size, value_size),
    )


@onnx_operator("LinearAttention", _SCHEMA, _fake, opset=27)
def linear_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    past_state: torch.Tensor | None = None,
    decay: torch.Tensor | None = None,
    beta: torch.Tensor | None = None,
    *,
    q_num_heads: int,
    kv_num_heads: int,
    update_rule: str = "gated_delta",
    scale: float | None = None,
) -> Results:
    """Attention whose past is a state of one size, whatever its length.

    Each token's key k, value v, decay g and beta b change the state S [key_size, value_size] of
    their head, and its query q reads it: S = exp(g) S; S = S + b k (v - k S); output = scale q S.

    Parameters:
        query: [batch, length, q_num_heads * key_size]. Several query heads may share a state.
        key, value: [batch, length, kv_num_heads * key_size] and of value_size.
        past_state: the state before the first token, [batch, kv_num_heads, key_size, value_size];
            zeros when None.
        decay: logarithms, [batch, length, kv_num_heads] or [batch, length, kv_num_heads *
            key_size]; for "gated" and "gated_delta".
        beta: [batch, length, kv_num_heads] or [batch, length, 1]; for "delta" and "gated_delta".
        update_rule: "linear" (S + k v), "gated" (with the decay), "delta" (with k S taken off v,
            times beta), or "gated_delta".
        scale: of the output; 1/sqrt(key_size) when None, and as ONNX has it when 0.

    Returns the output, [batch, length, q_num_heads * value_size], and the state behind the last
    token.
    """
    _check(query, key, value, decay, beta, q_num_heads, kv_num_heads, update_rule)
    decays, corrects = _RULES[update_rule]
    batch, length = query.shape[:2]
    computed = torch.promote_types(query.dtype, torch.float32)
    group, key_size, value_size = (
        q_num_heads // kv_num_heads,
        key.shape[2] // kv_num_heads,
        value.shape[2] // kv_num_heads,
    )
    queries = query.to(computed).reshape(batch, length, kv_num_heads, group, key_size)
    keys, values = (
        x.to(computed).reshape(batch, length, kv_num_heads, size)
        for x, size in ((key, key_size), (value, value_size))
    )
    factor = scale or 1 / math.sqrt(key_size)
    if past_state is None:
        state = keys.new_zeros(batch, kv_num_heads, key_size, value_size)
    else:
        state = past_state.to(computed)
    outputs = []
    for token in range(length):
        if decays and decay is not None:
            decayed = (
                decay[:, token]
                .to(computed)
                .unflatten(1, (kv_num_heads, decay.shape[2] // kv_num_heads))
                .unsqueeze(3)
            )
            state = state * decayed.exp()
        k, change = keys[:, token].unsqueeze(3), values[:, token].unsqueeze(2)
        if corrects and beta is not None:
            known = k.transpose(2, 3) @ state
            change = (change - known) * beta[:, token].to(computed)[:, :, None, None]
        state = state + k * change
        outputs.append(queries[:, token] * factor @ state)
    width = q_num_heads * value_size
    output = (
        torch.stack(outputs, 1).reshape(batch, length, width)
        if outputs
        else values.new_zeros(batch, 0, width)
    )
    final = query.dtype if past_state is None else past_state.dtype
    # An operator's results are no views of its inputs, as the state of no tokens would be.
    return output.to(query.dtype), state.to(final, copy=True)

"""Keeps recurrences over tokens whole while a model is captured, and their lengths dynamic.

Linear attention and state spaces have kernels on some devices (of flash-linear-attention, of
mamba_ssm), and transformers has functions in Python that stand for them: loops over tokens or over
chunks of tokens, of which a program would have as many turns as the example. While a model is
captured, `sardonyx.ops.linear_attention` computes what these functions do.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sardonyx._transformers_private.kernels import kernel_of

from .patching import Replacement, replaced

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@contextmanager
def whole_recurrences(model: torch.nn.Module | None) -> Iterator[None]:
    """Within it, the functions that the modules of `model` call are operators."""
    with replaced(_replacements(model)):
        yield


def _replacements(model: Any) -> Iterator[Replacement]:
    names = {type(each).__module__ for each in model.modules()} if model is not None else set()
    for module in filter(None, map(sys.modules.get, names)):
        if module.__name__.startswith("torch."):
            continue
        for name, value in vars(module).items():
            if (kernel := _KERNELS.get(kernel_of(value))) is not None:
                yield Replacement(module, name, _standing_in(kernel, value))


def _standing_in(
    compute: Callable[[Mapping[str, Any]], Any], function: Callable[..., Any]
) -> Callable[..., Any]:
    """`compute` for `function`, which is called where there are arguments that it does not know."""
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        # What comes to no parameter is ignored, but for what PyTorch has no form for.
        further = given.pop("kwargs", {})
        if any(further.get(name) is not None for name in _KERNELS_ALONE):
            return function(*args, **kwargs)
        result = compute(given)
        return function(*args, **kwargs) if result is NotImplemented else result

    return call


# Sequences that are packed into one row, and a gate of the output.
_KERNELS_ALONE = ("cu_seqlens", "seq_idx", "z")


def _delta_rule(given: Mapping[str, Any]) -> Any:
    """flash-linear-attention's gated delta rule, of one decay for each head or for each key of a
    head: query and key [batch, length, heads, key], value [..., value heads, value], g [..., value
    heads] or [..., value heads, key], beta [..., value heads]."""
    import torch

    from sardonyx.ops import linear_attention

    query, key, value, g, beta = (given[name] for name in ("query", "key", "value", "g", "beta"))
    heads = value.shape[2]
    if query.shape[2] != key.shape[2] or heads % key.shape[2] != 0:
        return NotImplemented
    queries, keys = (each.to(torch.float32) for each in (query, key))
    if given["use_qk_l2norm_in_kernel"]:
        queries, keys = _normalized(queries), _normalized(keys)
    if (times := heads // key.shape[2]) != 1:
        queries, keys = (each.repeat_interleave(times, dim=2) for each in (queries, keys))
    output, state = linear_attention(
        _flat(queries),
        _flat(keys),
        _flat(value.to(torch.float32)),
        given["initial_state"],
        _flat(g.to(torch.float32)) if g.dim() == 4 else g.to(torch.float32),
        beta.to(torch.float32),
        q_num_heads=heads,
        kv_num_heads=heads,
    )
    output = output.unflatten(2, (heads, value.shape[3])).to(query.dtype)
    return output, state if given["output_final_state"] else None


def _normalized(x: Tensor) -> Tensor:
    import torch

    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + 1e-6)


def _flat(x: Tensor) -> Tensor:
    """[batch, length, heads, size] with one axis for the heads and what each has."""
    return x.flatten(2)


def _mamba2(given: Mapping[str, Any]) -> Any:
    """Mamba 2's scan: hidden states [batch, length, heads, size], dt [batch, length, heads], A
    [heads], B and C [batch, length, groups, state]; states are [batch, heads, size, state]."""
    import torch

    from sardonyx.ops import linear_attention

    hidden, dt, skip = given["hidden_states"], given["dt"], given["D"]
    heads, groups = hidden.shape[2], given["B"].shape[2]
    if heads % groups != 0:
        return NotImplemented
    dt = _step(dt, given["dt_bias"], given["dt_softplus"])
    dt = torch.clamp(dt, *given["dt_limit"])
    hidden = hidden.float()
    key, query = (
        each.float().repeat_interleave(heads // groups, dim=2) if heads != groups else each.float()
        for each in (given["B"], given["C"])
    )
    past = given["initial_states"]
    output, state = linear_attention(
        _flat(query),
        _flat(key),
        _flat(hidden * dt[..., None].float()),
        None if past is None else past.float().transpose(2, 3),
        given["A"].to(hidden.dtype) * dt.float(),
        q_num_heads=heads,
        kv_num_heads=heads,
        update_rule="gated",
        scale=1.0,
    )
    output = output.unflatten(2, (heads, hidden.shape[3]))
    if skip is not None:
        output = output + skip[..., None] * hidden
    return (output, state.transpose(2, 3)) if given["return_final_states"] else output


def _mamba(given: Mapping[str, Any]) -> Any:
    """Mamba's scan from a state of zeros: hidden states and dt [batch, channels, length], A
    [channels, state], B and C [batch, state, length]. Each channel is a head of its own."""
    from torch.nn import functional

    from sardonyx.ops import linear_attention

    if given["return_last_state"]:
        # It forgets what came before: one token at a time does not.
        return NotImplemented
    hidden, rates, skip = given["hidden_states"], given["A"], given["D"]
    dt = _step(given["dt"].transpose(1, 2), given["delta_bias"], given["delta_softplus"])
    channels, size = rates.shape
    key, query = (
        given[name].transpose(1, 2).float()[:, :, None, :].expand(-1, -1, channels, size)
        for name in ("B", "C")
    )
    output, _ = linear_attention(
        _flat(query),
        _flat(key),
        dt.float() * hidden.transpose(1, 2).float(),
        None,
        _flat(rates.float() * dt.float()[..., None]),
        q_num_heads=channels,
        kv_num_heads=channels,
        update_rule="gated",
        scale=1.0,
    )
    output = output.to(hidden.dtype).transpose(1, 2)
    if skip is not None:
        output = output + hidden * skip[None, :, None]
    return output if given["z"] is None else output * functional.silu(given["z"])


def _step(dt: Tensor, bias: Tensor | None, softplus: bool) -> Tensor:
    from torch.nn import functional

    if bias is not None:
        dt = dt + bias.to(dt.dtype)
    return functional.softplus(dt) if softplus else dt


_KERNELS: dict[Any, Callable[[Mapping[str, Any]], Any]] = {
    ("fla", "chunk_gated_delta_rule"): _delta_rule,
    ("fla", "fused_recurrent_gated_delta_rule"): _delta_rule,
    ("fla", "chunk_kda"): _delta_rule,
    ("fla", "fused_recurrent_kda"): _delta_rule,
    ("mamba_ssm", "mamba_chunk_scan_combined"): _mamba2,
    ("mamba_ssm", "selective_scan_fn"): _mamba,
}

"""ONNX's RotaryEmbedding of opset 23 (https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html)."""

from __future__ import annotations

import torch

from ._operator import onnx_operator

_SCHEMA = (
    "(Tensor x, Tensor cos_cache, Tensor sin_cache, Tensor? position_ids=None, *, "
    "bool interleaved=False, SymInt num_heads=0, SymInt rotary_embedding_dim=0) -> Tensor"
)


def _check(
    x: torch.Tensor,
    cos_cache: torch.Tensor,
    sin_cache: torch.Tensor,
    position_ids: torch.Tensor | None,
    num_heads: int,
) -> None:
    torch._check(
        x.dim() in (3, 4), lambda: f"X must have 3 or 4 dimensions, got shape {tuple(x.shape)}"
    )
    torch._check(
        x.dim() == 4 or num_heads != 0,
        lambda: f"num_heads must be provided for 3D inputs. Received shape {tuple(x.shape)}",
    )
    rank = 2 if position_ids is not None else 3
    torch._check(
        cos_cache.dim() == rank and sin_cache.dim() == rank,
        lambda: (
            f"cos_cache/sin_cache must be {rank}D when position_ids is "
            f"{'' if rank == 2 else 'not '}provided. Received {tuple(cos_cache.shape)} and "
            f"{tuple(sin_cache.shape)}"
        ),
    )
    torch._check(
        position_ids is None or position_ids.dim() == 2,
        lambda: "position_ids must be 2D when provided",
    )


def _fake(x: torch.Tensor, *arguments: torch.Tensor, **options: int) -> torch.Tensor:
    cos, sin, *positions = arguments
    _check(x, cos, sin, positions[0] if positions else None, options.get("num_heads", 0))
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


@onnx_operator("RotaryEmbedding", _SCHEMA, _fake)
def rotary_embedding(
    X: torch.Tensor,  # noqa: N803 (the name that ONNX and torch.onnx.ops give it)
    cos_cache: torch.Tensor,
    sin_cache: torch.Tensor,
    position_ids: torch.Tensor | None = None,
    *,
    interleaved: bool = False,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> torch.Tensor:
    """Rotates pairs of features by angles that depend on their position.

    Parameters:
        X: [batch, heads, length, head_size], or [batch, length, heads * head_size] with
            `num_heads`.
        cos_cache, sin_cache: of the angles: [positions, half] with `position_ids`, else
            [batch, length, half]; half of what is rotated of a head.
        position_ids: [batch, length].
        interleaved: pairs are neighbors; otherwise a feature and the one half a head on.
        num_heads: of three-dimensional inputs.
        rotary_embedding_dim: how many features of a head are rotated; 0: all.

    Returns a tensor of the shape of X.
    """
    _check(X, cos_cache, sin_cache, position_ids, num_heads)
    # The head is the last axis but for its features: [batch, length, heads, head_size].
    heads = X.transpose(1, 2) if X.dim() == 4 else X.unflatten(2, (num_heads, -1))
    size = rotary_embedding_dim or heads.shape[-1]
    turned, kept = heads[..., :size], heads[..., size:]
    if position_ids is not None:
        cos_cache, sin_cache = cos_cache[position_ids], sin_cache[position_ids]
    cos, sin = cos_cache.unsqueeze(2), sin_cache.unsqueeze(2)
    if interleaved:
        real, imaginary = turned[..., 0::2], turned[..., 1::2]
    else:
        real, imaginary = turned[..., : size // 2], turned[..., size // 2 :]
    parts = (cos * real - sin * imaginary, sin * real + cos * imaginary)
    turned = torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)
    result = torch.cat((turned, kept), -1)
    return result.transpose(1, 2).contiguous() if X.dim() == 4 else result.flatten(2)

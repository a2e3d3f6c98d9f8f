"""A U-Net of diffusion: convolutions with the time in them, attention to itself and to a text."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional


class ResidualBlock(nn.Module):
    """Two convolutions behind norms, with what the time gives between them."""

    def __init__(self, inputs: int, outputs: int, time: int, groups: int) -> None:
        super().__init__()
        self.first, self.second = nn.GroupNorm(groups, inputs), nn.GroupNorm(groups, outputs)
        self.enter = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.leave = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.enter(functional.silu(self.first(x)))
        y = y + self.time(functional.silu(time))[:, :, None, None]
        result: torch.Tensor = self.skip(x) + self.leave(functional.silu(self.second(y)))
        return result


class CrossAttention(nn.Module):
    def __init__(self, width: int, context: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(context, width, bias=False) for _ in range(2))
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        parts = (self.q(x), self.k(context), self.v(context))
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        y = functional.scaled_dot_product_attention(q, k, v)
        result: torch.Tensor = self.out(y.transpose(1, 2).flatten(2))
        return result


class GatedGelu(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, 2 * inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values, gate = self.project(x).chunk(2, dim=-1)
        result: torch.Tensor = values * functional.gelu(gate)
        return result


class TransformerBlock(nn.Module):
    """Over the places of an image."""

    def __init__(self, width: int, context: int, heads: int, groups: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(groups, width)
        self.enter, self.leave = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.to_itself = CrossAttention(width, width, heads)
        self.to_text = CrossAttention(width, context, heads)
        self.inner = nn.Sequential(GatedGelu(width, 4 * width), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        height, width = x.shape[2:]
        y = self.enter(self.norm(x)).flatten(2).transpose(1, 2)
        own = self.norms[0](y)
        y = y + self.to_itself(own, own)
        y = y + self.to_text(self.norms[1](y), context)
        y = y + self.inner(self.norms[2](y))
        result: torch.Tensor = x + self.leave(y.transpose(1, 2).unflatten(2, (height, width)))
        return result


class UNet(nn.Module):
    """Noise of images [batch, 4, height, width] at times [batch], for texts [batch, n, context]."""

    def __init__(self, width: int = 320, context: int = 768, groups: int = 32) -> None:
        super().__init__()
        time, wide, head = 4 * width, 2 * width, min(64, width // 2)
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.enter = nn.Conv2d(4, width, 3, padding=1)
        self.down = ResidualBlock(width, width, time, groups)
        self.look = TransformerBlock(width, context, width // head, groups)
        self.shrink = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.middle = ResidualBlock(width, wide, time, groups)
        self.look_middle = TransformerBlock(wide, context, wide // head, groups)
        self.grow = nn.Conv2d(wide, wide, 3, padding=1)
        self.up = ResidualBlock(wide + width, width, time, groups)
        self.look_up = TransformerBlock(width, context, width // head, groups)
        self.norm = nn.GroupNorm(groups, width)
        self.leave = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x: torch.Tensor, t: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        half = self.width // 2
        steps = torch.arange(half, device=x.device) * (-math.log(10000.0) / half)
        angles = t[:, None].float() * steps.exp()
        time = self.time(torch.cat([angles.cos(), angles.sin()], dim=-1).to(x.dtype))
        left = self.look(self.down(self.enter(x), time), context)
        y = self.look_middle(self.middle(self.shrink(left), time), context)
        y = self.grow(functional.interpolate(y, scale_factor=2.0, mode="nearest"))
        y = self.look_up(self.up(torch.cat([y, left], dim=1), time), context)
        result: torch.Tensor = self.leave(functional.silu(self.norm(y)))
        return result

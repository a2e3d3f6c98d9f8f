"""Small programs captured by fake-tensor tracing and by torch.export, compared in a release of
PyTorch that nobody has tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from sardonyx import _native
from sardonyx._capture.context import capturing
from sardonyx._torch_private import contexts
from sardonyx._torch_private import export as torch_export

from .capture import quick_capture
from .program_text import lines_that_count


class Program(NamedTuple):
    """A module, its inputs, and which of their dimensions are dynamic."""

    model: nn.Module
    args: tuple[Any, ...]
    shapes: tuple[Any, ...]


class _Attention(nn.Module):
    """What transformers are made of: views of products, a cache that grows, a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, past: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        k = torch.cat([past, k], dim=2)
        places = torch.arange(k.shape[2])
        seen = places[None, :] <= (places[-length:])[:, None]
        mask = torch.where(seen, 0.0, torch.finfo(x.dtype).min)[None, None]
        values = torch.cat([past, v], dim=2)
        mixed = nn.functional.scaled_dot_product_attention(q, k, values, attn_mask=mask)
        mixed = mixed.transpose(1, 2).contiguous().view(batch, length, -1)
        return x + self.drop(nn.functional.gelu(self.out(mixed))), k


class _Picture(nn.Module):
    """Convolutions, writes in place, and a region under autocast."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.calls = nn.Buffer(torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.max_pool2d(self.norm(self.conv(x)).relu_(), 2)
        y[:, 0] = y[:, 1] * 2
        self.calls.add_(1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = y.flatten(2) @ y.flatten(2).transpose(1, 2)
        rows = product.float().softmax(-1).mean(1, keepdim=True)
        return rows.expand(-1, 4, -1) + self.calls + x.shape[0]


def programs() -> Iterator[Program]:
    """Those that are compared."""
    auto = torch.export.Dim.AUTO
    past = torch.zeros(2, 2, 5, 4)
    yield Program(
        _Attention(), (torch.zeros(2, 3, 8), past), ({0: auto, 1: auto}, {0: auto, 2: auto})
    )
    yield Program(_Picture(), (torch.zeros(2, 3, 8, 8),), ({0: auto},))


def disagreement(programs: Callable[[], Iterator[Program]] = programs) -> str:
    """The first line in which the two captures differ, or why fake-tensor tracing cannot run.
    Empty where they agree."""
    with contexts.computing(), torch.random.fork_rng(devices=[]), torch.device("cpu"):
        for program in programs():
            name = type(program.model).__name__.strip("_").lower()
            try:
                quick, usual = _quickly(program), _by_torch(program)
            except Exception as error:  # of a release that nobody has seen
                return f"{name}: {type(error).__name__}: {error}".splitlines()[0]
            if quick != usual:
                pairs = zip(usual, quick, strict=False)
                first = next((f"{a.strip()} | {b.strip()}" for a, b in pairs if a != b), "its end")
                return f"{name}: another program than torch.export's, from {first}"
    return ""


def _quickly(program: Program) -> list[str]:
    def asked() -> Any:
        raise AssertionError("torch.export is asked")

    with capturing():
        model, args, shapes = program
        return _lines(quick_capture(model.eval(), args, {}, shapes, asked))


def _by_torch(program: Program) -> list[str]:
    model, args, shapes = program
    with capturing(), torch.no_grad():
        options = torch_export.capture_options()
        return _lines(
            torch.export.export(model.eval(), args, dynamic_shapes=shapes, strict=False, **options)
        )


def _lines(program: Any) -> list[str]:
    """The program's calls, sizes and weights. Ranges are left out, in which torch.export's may
    begin later."""
    return lines_that_count(str(_native.walk(program, {})))

"""Models as people write them without a library."""

from __future__ import annotations

import itertools

import torch
from torch import nn
from torch.nn import functional

from tests.harness import Inputs

from .example import BATCH, ZOO, Example, Size, images, rows, tokens


@ZOO.add("mlp")
def mlp(size: Size) -> Example:
    width = 24 if size == "small" else 1024
    model = nn.Sequential(
        nn.Linear(16, width),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(width, width),
        nn.GELU(),
        nn.LayerNorm(width),
        nn.Linear(width, 10),
        nn.Softmax(dim=-1),
    )
    first, *others = (Inputs((torch.randn(n, 16),)) for n in (2, 5, 1))
    return Example(model, first, ({0: BATCH},), others)


class _Cnn(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1, groups=2),
            nn.Hardswish(),
            nn.AvgPool2d(2),
            nn.Conv2d(2 * width, 2 * width, (1, 3), padding="same", dilation=2),
            nn.LeakyReLU(0.1),
        )
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = functional.adaptive_avg_pool2d(self.body(x), 1).flatten(1)
        return functional.log_softmax(self.head(features), dim=1)


@ZOO.add("cnn")
def cnn(size: Size) -> Example:
    model = _Cnn(8 if size == "small" else 64)
    first, *others = (Inputs((images(n, 32),)) for n in (2, 3, 1))
    return Example(model, first, ({0: BATCH},), others)


class _DoubleConvolution(nn.Sequential):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1),
            nn.GroupNorm(4, outputs),
            nn.SiLU(),
        )


class _UNet(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        pairs = list(itertools.pairwise(widths))
        self.first = _DoubleConvolution(3, width)
        self.down = nn.ModuleList(_DoubleConvolution(a, b) for a, b in pairs)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in reversed(pairs))
        self.merge = nn.ModuleList(_DoubleConvolution(2 * a, a) for a, _ in reversed(pairs))
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = [self.first(x)]
        for down in self.down:
            levels.append(down(functional.max_pool2d(levels[-1], 2)))
        y = levels.pop()
        for up, merge in zip(self.up, self.merge, strict=True):
            y = merge(torch.cat([levels.pop(), up(y)], dim=1))
        mask = self.last(y)
        return functional.interpolate(mask, scale_factor=2, mode="bilinear", align_corners=False)


@ZOO.add("unet")
def unet(size: Size) -> Example:
    """Sides vary too, as long as they halve."""
    model = _UNet(8, 2) if size == "small" else _UNet(64, 4)
    step = 4 if size == "small" else 16
    height, width = (torch.export.Dim(name, max=1024) for name in ("rows", "columns"))
    shapes = ({0: BATCH, 2: step * height, 3: step * width},)
    unit = 1 if size == "small" else 4
    sizes = ((2, 6, 5), (3, 4, 7), (1, 5, 5))
    first, *others = (Inputs((images(n, step * unit * h, step * unit * w),)) for n, h, w in sizes)
    return Example(model, first, shapes, others)


class _Tagger(nn.Module):
    def __init__(self, words: int, width: int, tags: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * width, tags)

    def forward(self, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        states, (last, _) = self.lstm(self.embedding(words))
        scores = self.out(states)
        return scores.argmax(dim=-1), last


@ZOO.add("lstm_tagger")
def lstm_tagger(size: Size) -> Example:
    model = _Tagger(99, 12, 7) if size == "small" else _Tagger(30000, 256, 50)
    first, *others = (Inputs((tokens(b, t),)) for b, t in ((2, 7), (3, 11), (1, 5)))
    return Example(model, first, (rows(512),), others, capture_first=False)


class _GruTranslator(nn.Module):
    """Encoder, attention over its states, decoder fed with the right words."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.source = nn.Embedding(words, width)
        self.target = nn.Embedding(words, width)
        self.encoder = nn.GRU(width, width)
        self.decoder = nn.GRU(width, width, num_layers=1)
        self.out = nn.Linear(2 * width, words)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory, state = self.encoder(self.source(source).transpose(0, 1))
        states, _ = self.decoder(self.target(target).transpose(0, 1), state)
        memory, states = memory.transpose(0, 1), states.transpose(0, 1)
        weights = torch.softmax(states @ memory.mT / memory.shape[-1] ** 0.5, dim=-1)
        scores: torch.Tensor = self.out(torch.cat([states, weights @ memory], dim=-1))
        return scores


@ZOO.add("gru_seq2seq")
def gru_seq2seq(size: Size) -> Example:
    model = _GruTranslator(99, 12) if size == "small" else _GruTranslator(30000, 256)

    def inputs(batch: int, source: int, target: int) -> Inputs:
        return Inputs((tokens(batch, source), tokens(batch, target)))

    shapes = (rows(512), rows(512, "target"))
    others = [inputs(3, 11, 4), inputs(1, 5, 9)]
    return Example(model, inputs(2, 7, 5), shapes, others, capture_first=False)

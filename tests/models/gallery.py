"""The models of the site's gallery: small, of our own definitions, with random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F


class Classifier(nn.Module):
    """Rows of features to logits of classes."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 4)
        )

    def forward(self, features: Tensor) -> Tensor:
        return F.log_softmax(self.layers(features), dim=-1)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(self.first_norm(self.first(x)))
        return F.relu(x + self.second_norm(self.second(inner)))


class ResidualNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 7, stride=2, padding=3)
        self.blocks = nn.Sequential(*(Residual(16) for _ in range(3)))
        self.head = nn.Linear(16, 10)

    def forward(self, images: Tensor) -> Tensor:
        x = self.blocks(F.max_pool2d(F.relu(self.stem(images)), 2))
        logits: Tensor = self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))
        return logits


class Attention(nn.Module):
    """Self-attention; with `cached`, after keys and values of earlier tokens."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.joint = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(
        self, x: Tensor, cached: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        batch, tokens, width = x.shape
        parts = self.joint(x).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        if cached is None:
            mixed = F.scaled_dot_product_attention(query, key, value)
        else:
            past = cached[0].shape[2]
            key, value = torch.cat([cached[0], key], 2), torch.cat([cached[1], value], 2)
            rows = torch.arange(tokens).unsqueeze(1) + past
            mask = torch.arange(past + tokens) <= rows
            mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width)), key, value


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )

    def forward(
        self, x: Tensor, cached: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        mixed, key, value = self.attention(self.attention_norm(x), cached)
        x = x + mixed
        return x + self.mlp(self.mlp_norm(x)), key, value


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, stride=8)
        self.positions = nn.Parameter(torch.randn(1, 16, 32))
        self.blocks = nn.ModuleList(Block(32, 4) for _ in range(2))
        self.head = nn.Linear(32, 10)

    def forward(self, images: Tensor) -> Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        for block in self.blocks:
            x, _, _ = block(x)
        logits: Tensor = self.head(x.mean(1))
        return logits


class Decoder(nn.Module):
    """One step of a language model: logits, and keys and values for the next step."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(64, 32)
        self.blocks = nn.ModuleList(Block(32, 4) for _ in range(2))
        self.norm = nn.LayerNorm(32)

    def forward(
        self, tokens: Tensor, cache: list[tuple[Tensor, Tensor]]
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        x = self.embedding(tokens)
        grown = []
        for block, cached in zip(self.blocks, cache, strict=True):
            x, key, value = block(x, cached)
            grown.append((key, value))
        return self.norm(x) @ self.embedding.weight.T, grown


class Tagger(nn.Module):
    """A tag for each word, by an LSTM that reads forward and backward."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 16, padding_idx=0)
        self.recurrent = nn.LSTM(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(24, 7)

    def forward(self, words: Tensor) -> Tensor:
        states, _ = self.recurrent(self.embedding(words))
        tags: Tensor = self.tags(states).argmax(-1)
        return tags.masked_fill(words == 0, -1)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([self._pair(1, 8), self._pair(8, 16)])
        self.bottom = self._pair(16, 32)
        self.up = nn.ModuleList([self._pair(32 + 16, 16), self._pair(16 + 8, 8)])
        self.out = nn.Conv2d(8, 2, 1)

    @staticmethod
    def _pair(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1),
            nn.GroupNorm(4, outputs),
            nn.SiLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1),
            nn.SiLU(),
        )

    def forward(self, image: Tensor) -> Tensor:
        skipped = []
        x = image
        for stage in self.down:
            skipped.append(stage(x))
            x = F.avg_pool2d(skipped[-1], 2)
        x = self.bottom(x)
        for stage in self.up:
            other = skipped.pop()
            x = F.interpolate(x, size=other.shape[-2:], mode="bilinear", align_corners=False)
            x = stage(torch.cat([x, other], 1))
        masks: Tensor = self.out(x)
        return masks


class Experts(nn.Module):
    """Each token goes through two of four experts, weighted by a router."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(16, 4, bias=False)
        self.up = nn.Parameter(torch.randn(4, 16, 32) / 4)
        self.down = nn.Parameter(torch.randn(4, 32, 16) / 6)

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(2, dim=-1)
        gates = torch.zeros(*x.shape[:-1], 4).scatter(-1, chosen, weights)
        hidden = F.silu(torch.einsum("btd,edh->beth", x, self.up))
        each = torch.einsum("beth,ehd->betd", hidden, self.down)
        return torch.einsum("betd,bte->btd", each, gates / gates.sum(-1, keepdim=True))


class SquareRoot(nn.Module):
    """Newton's method, until it is exact enough: a loop whose end depends on data."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        def goes_on(step: Tensor, root: Tensor) -> Tensor:
            return ((root * root - x).abs().max() > 1e-4) & (step < 50)

        def improve(step: Tensor, root: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, (root + x / root) / 2

        steps, root = torch.while_loop(goes_on, improve, (torch.tensor(0), torch.ones_like(x)))
        return root, steps


class EarlyExit(nn.Module):
    """Runs its second half only where the first one is not sure."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.exit = nn.Linear(32, 5)
        self.second = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 5))

    def forward(self, features: Tensor) -> Tensor:
        hidden = self.first(features)
        early: Tensor = self.exit(hidden).softmax(-1)
        is_sure = early.amax(-1).min() > 0.3

        def stop(hidden: Tensor, early: Tensor) -> Tensor:
            return early + 0 * hidden.sum()

        def finish(hidden: Tensor, early: Tensor) -> Tensor:
            late: Tensor = self.second(hidden).softmax(-1)
            return (late + early) / 2

        classes: Tensor = torch.cond(is_sure, stop, finish, (hidden, early))
        return classes


class Detector(nn.Module):
    """The ten best boxes of a grid, as corners, with scores and classes."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=4, padding=1), nn.BatchNorm2d(16), nn.Hardswish()
        )
        self.boxes = nn.Conv2d(16, 4, 1)
        self.classes = nn.Conv2d(16, 6, 1)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.features(images)
        height, width = x.shape[-2:]
        rows, columns = torch.arange(height), torch.arange(width)
        grid = torch.stack(torch.meshgrid(columns, rows, indexing="xy"), -1).reshape(-1, 2)
        boxes = self.boxes(x).flatten(2).transpose(1, 2)
        centers, sizes = (boxes[..., :2].sigmoid() + grid) * 4, boxes[..., 2:].exp()
        corners = torch.cat([centers - sizes / 2, centers + sizes / 2], -1)
        scores, classes = self.classes(x).flatten(2).transpose(1, 2).sigmoid().max(-1)
        best, places = scores.topk(10, dim=1)
        places_of_boxes = places.unsqueeze(-1).expand(-1, -1, 4)
        return corners.gather(1, places_of_boxes), best, classes.gather(1, places)


class Spectrogram(nn.Module):
    """Audio to a logarithmic spectrogram in 20 bands, and a convolution over time."""

    window: Tensor
    bands: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.register_buffer("bands", torch.rand(20, 33) / 33)
        self.convolution = nn.Conv1d(20, 8, 3, padding=1)

    def forward(self, audio: Tensor) -> Tensor:
        spectrum = torch.stft(audio, 64, 16, window=self.window, return_complex=True)
        bands = (self.bands @ spectrum.abs().square()).clamp(min=1e-6).log()
        return F.relu(self.convolution(bands - bands.mean(-1, keepdim=True)))


class GraphNetwork(nn.Module):
    """Messages along the edges of a graph, summed where they arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.message = nn.Sequential(nn.Linear(16, 16), nn.ReLU())
        self.update = nn.GRUCell(16, 8)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        source, target = edges[0], edges[1]
        for _ in range(2):
            messages = self.message(torch.cat([nodes[source], nodes[target]], -1))
            arrived = torch.zeros(nodes.shape[0], 16).index_add(0, target, messages)
            nodes = self.update(arrived, nodes)
        return nodes


@dataclass(frozen=True)
class Entry:
    """A model, what it shows, and inputs of the size that is asked for (1 or more)."""

    name: str
    title: str
    text: str
    model: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[Any, ...]]
    dynamic_shapes: Any

    def build(self) -> nn.Module:
        """The model with its random weights, the same ones each time, ready for inference."""
        torch.manual_seed(0)
        model = self.model().eval()
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):  # as after training
                nn.init.uniform_(module.weight, 0.5, 1.5)
                nn.init.normal_(module.bias)
                assert module.running_mean is not None
                assert module.running_var is not None
                nn.init.normal_(module.running_mean)
                nn.init.uniform_(module.running_var, 0.5, 1.5)
        return model


def _cache(size: int) -> list[tuple[Tensor, Tensor]]:
    shape = (size, 4, 2 + size, 8)
    return [(torch.randn(shape), torch.randn(shape)) for _ in range(2)]


_PAST = {0: "batch", 2: "past"}
GALLERY = (
    Entry("classifier", "Classifier", "Linear layers, a normalization, GELU.",
          Classifier, lambda n: (torch.randn(n, 16),), ({0: "batch"},)),
    Entry("residual-network", "Residual network",
          "Batch normalization is folded into the convolutions before it.",
          ResidualNetwork, lambda n: (torch.randn(n, 3, 32, 32),), ({0: "batch"},)),
    Entry("vision-transformer", "Vision transformer",
          "Patches of an image, two blocks with attention.",
          VisionTransformer, lambda n: (torch.randn(n, 3, 32, 32),), ({0: "batch"},)),
    Entry("decoder", "Decoder with a KV cache",
          "A step of a language model. Keys and values go in and out, of dynamic lengths.",
          Decoder, lambda n: (torch.randint(64, (n, 1 + n)), _cache(n)),
          ({0: "batch", 1: "tokens"}, [(_PAST, _PAST), (_PAST, _PAST)])),
    Entry("tagger", "LSTM tagger", "A bidirectional LSTM of two layers, one ONNX node for each.",
          Tagger, lambda n: (torch.randint(100, (n, 3 + n)),), ({0: "batch", 1: "words"},)),
    Entry("unet", "U-Net", "Skipped connections, upsampling to a dynamic size.",
          UNet, lambda n: (torch.randn(n, 1, 8 + 8 * n, 24),),
          ({0: "batch", 2: Dim("height", min=4)},)),
    Entry("experts", "Mixture of experts", "A router, two of four experts for each token.",
          Experts, lambda n: (torch.randn(n, 3 + n, 16),), ({0: "batch", 1: "tokens"},)),
    Entry("square-root", "Loop that ends on data",
          "`torch.while_loop` becomes a Loop. Expand its box to see the body.",
          SquareRoot, lambda n: (torch.rand(2 + n) + 1,), ({0: "numbers"},)),
    Entry("early-exit", "Branch on data", "`torch.cond` becomes an If with two bodies.",
          EarlyExit, lambda n: (torch.randn(n, 16),), ({0: "batch"},)),
    Entry("detector", "Detector", "A grid of boxes, decoded, and the ten best ones.",
          Detector, lambda n: (torch.randn(n, 3, 32, 32 + 8 * n),),
          ({0: "batch", 3: Dim("width", min=5)},)),
    Entry("spectrogram", "Spectrogram", "A short-time Fourier transform of complex numbers.",
          Spectrogram, lambda n: (torch.randn(n, 400 + 32 * n),),
          ({0: "batch", 1: Dim("samples", min=33)},)),
    Entry("graph-network", "Graph network", "Messages along edges, added at their targets.",
          GraphNetwork, lambda n: (torch.randn(4 + n, 8), torch.randint(4 + n, (2, 6 + n))),
          ({0: "nodes"}, {1: "edges"})),
)  # fmt: skip

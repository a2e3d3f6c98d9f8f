"""Embeddings of sentences, as folders of sentence-transformers describe them: a text model, then
pooling over its tokens, then maybe layers and a norm."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sardonyx._base.errors import refusal
from sardonyx.hf.base.example import Tensors
from sardonyx.hf.base.parts import fixed_arguments, named_outputs

_Pool = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class SentencePooling:
    """How the embeddings of tokens become one of a sentence.

    Attributes:
        poolings: the ways of pooling, whose results are joined.
        layers: what follows, in order.
    """

    poolings: tuple[str, ...]
    layers: tuple[torch.nn.Module, ...]


class SentenceEmbedder(torch.nn.Module):
    """A text model, and the pooling of its tokens to sentence embeddings [batch, width]."""

    def __init__(self, model: torch.nn.Module, sentences: SentencePooling) -> None:
        super().__init__()
        self.model = model
        self.layers = torch.nn.ModuleList(sentences.layers)
        self._poolings = sentences.poolings

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The tokens' embeddings [batch, length, width], and those of the sentences."""
        found = named_outputs(self.model(**inputs, **fixed_arguments(self.model)))
        tokens = found["last_hidden_state"]
        mask = inputs["attention_mask"].unsqueeze(-1).to(tokens.dtype)
        embedding = torch.cat([_POOLINGS[name](tokens, mask) for name in self._poolings], dim=-1)
        for layer in self.layers:
            embedding = layer(embedding)
        return tokens, embedding


class _Normalize(torch.nn.Module):
    def forward(self, embedding: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(embedding, p=2.0, dim=-1)


def _sum(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (tokens * mask).sum(1)


def _mean(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return _sum(tokens, mask) / mask.sum(1).clamp(min=1e-9)


def _mean_of_root(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return _sum(tokens, mask) / mask.sum(1).clamp(min=1e-9).sqrt()


def _weighted_mean(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Later tokens count more: the first by 1, the next by 2, and so on."""
    weights = mask * torch.arange(1, tokens.shape[1] + 1).to(tokens.dtype).view(1, -1, 1)
    return (tokens * weights).sum(1) / weights.sum(1).clamp(min=1e-9)


def _largest(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return tokens.masked_fill(mask == 0, -1e9).amax(1)


def _first(tokens: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return tokens[:, 0]


def _last(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The last token that is no padding."""
    places = torch.arange(tokens.shape[1]).to(tokens.dtype).view(1, -1)
    return _at(tokens, (mask.squeeze(-1) * places).argmax(1))


def _at(tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    index = places.view(-1, 1, 1).expand(-1, 1, tokens.shape[2])
    return tokens.gather(1, index).squeeze(1)


# By the settings of sentence-transformers' Pooling, in the order in which it joins them.
_POOLINGS: dict[str, _Pool] = {
    "pooling_mode_cls_token": _first,
    "pooling_mode_max_tokens": _largest,
    "pooling_mode_mean_tokens": _mean,
    "pooling_mode_mean_sqrt_len_tokens": _mean_of_root,
    "pooling_mode_weightedmean_tokens": _weighted_mean,
    "pooling_mode_lasttoken": _last,
}


def transformer_of(folder: Path) -> Path:
    """The folder of the text model."""
    path = next((path for kind, path in _modules(folder) if kind == "Transformer"), "")
    return folder / path if path else folder


def read_sentences(folder: Path) -> SentencePooling | None:
    """None for folders that are none of sentence-transformers. SX2001 for modules that are not
    known here."""
    modules = _modules(folder)
    if not modules:
        return None
    poolings: tuple[str, ...] = ()
    layers: list[torch.nn.Module] = []
    for kind, path in modules:
        if kind == "Pooling":
            settings = _settings(folder / path)
            poolings = tuple(name for name in _POOLINGS if settings.get(name))
        elif kind == "Dense":
            layers.append(_dense(folder / path))
        elif kind == "Normalize":
            layers.append(_Normalize())
        elif kind != "Transformer":
            raise refusal(
                "SX2001",
                f"{folder} makes embeddings with a {kind}, which is not known here",
                "export the text model: --task feature-extraction of its own folder",
            )
    return SentencePooling(poolings, tuple(layers)) if poolings else None


def _modules(folder: Path) -> list[tuple[str, str]]:
    """The class and the folder of each module."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return [(each["type"].rpartition(".")[2], each["path"]) for each in listed]
    except (ValueError, KeyError, TypeError) as error:
        raise refusal("SX2001", f"{path} is no list of modules: {error}") from error


def _settings(folder: Path) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise refusal("SX2001", f"{folder} has no configuration: {error}") from error
    return settings


def _dense(folder: Path) -> torch.nn.Module:
    """A linear layer with its activation. SX2001 for weights that are not in safetensors."""
    from safetensors.torch import load_file

    settings = _settings(folder)
    path = folder / "model.safetensors"
    if not path.is_file():
        raise refusal("SX2001", f"{folder} has no model.safetensors")
    linear = torch.nn.Linear(
        settings["in_features"], settings["out_features"], settings.get("bias", True)
    )
    linear.load_state_dict({k.removeprefix("linear."): v for k, v in load_file(path).items()})
    name = str(settings.get("activation_function", "")).rpartition(".")[2]
    activation = getattr(torch.nn, name or "Identity", None)
    if activation is None:
        raise refusal("SX2001", f"{folder} has the activation {name}, which torch.nn has not")
    return torch.nn.Sequential(linear, activation())

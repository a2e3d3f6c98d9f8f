"""Caches of one size: a decoder writes new tokens into buffers of keys and values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from sardonyx._base.errors import UsageError, refusal
from sardonyx._transformers_private.caches import give_places, take_places
from sardonyx._transformers_private.probing import MissingError
from sardonyx.hf.base.caches import PAST_LENGTH, POSITION, CacheLayout
from sardonyx.hf.base.example import BATCH, Dims, Tensors

_MASK = "attention_mask"


@dataclass(frozen=True)
class StaticCache:
    """The cache of a decoder that has places for `places` tokens, and maybe states next to them.

    It is the model's own cache with layers that write into their keys and values. Those that a
    window hides have places, too.
    """

    places: int
    has_states: bool = False

    def of(self, layout: CacheLayout, model: torch.nn.Module) -> StaticCache:
        """That of a model whose cache, where it grows, has the layout. SX2012 where it has no
        tokens."""
        grows = [PAST_LENGTH in each.shape for each in layout.tensors]
        if not any(grows):
            raise _without_places(model, "its cache has no tokens, only states")
        return replace(self, has_states=not all(grows))

    def layout(self, layout: CacheLayout) -> CacheLayout:
        """The layout, in which the length of the past is that of the buffers."""
        tensors = tuple(
            replace(each, shape=tuple(self.places if n == PAST_LENGTH else n for n in each.shape))
            for each in layout.tensors
        )
        return CacheLayout(tensors, layout.context)

    def inputs(
        self, inputs: Tensors, dims: Dims, layout: CacheLayout, past: int
    ) -> tuple[Tensors, Dims]:
        """Those of a decoder whose cache grows, which has the `layout`, for one with places, `past`
        of which are taken: the place of the first new token is an input, and the mask [batch,
        places] is 1 for those that hold tokens, the new ones too."""
        inputs, dims = dict(inputs), dict(dims)
        batch, tokens = next(iter(inputs.values())).shape[:2]
        past = max(0, min(past, self.places - tokens))
        if _MASK in inputs:
            used = torch.arange(self.places) < past + tokens
            used = used.to(inputs[_MASK].dtype).expand(batch, -1)
            inputs[_MASK] = used.contiguous()
            dims[_MASK] = {0: BATCH}
        for each in self.layout(layout).tensors:
            inputs[each.past] = each.example({BATCH: batch})
            dims[each.past] = each.dims
        inputs[POSITION] = torch.tensor([past])
        dims[POSITION] = {}
        return inputs, dims

    def mask(self, mask: torch.Tensor, position: torch.Tensor, tokens: int) -> torch.Tensor:
        """What the model takes for a mask [batch, places]: states are masked by the end of it,
        where the new tokens are repeated. Attention looks no further than its places."""
        if not self.has_states:
            return mask
        return torch.cat([mask, mask.index_select(1, position + torch.arange(tokens))], 1)

    def give(self, cache: Any, position: torch.Tensor, model: torch.nn.Module) -> list[Any]:
        """Gives the cache its places, of which as many are taken as `position` [1] says; returns
        what take() needs. SX2012 for a class of caches that has none."""
        try:
            return give_places(cache, self.places, position.reshape(()))
        except (TypeError, MissingError) as error:
            raise _without_places(model, f"of its cache {error}") from error

    def take(self, cache: Any, former: list[Any]) -> None:
        """Leaves what is in the places in the layers that the cache had."""
        take_places(cache, former)


def _without_places(model: torch.nn.Module, why: str) -> Exception:
    return refusal(
        "SX2012",
        f"--static-cache: {type(model).__name__} has no such cache: {why}",
        "leave --static-cache out",
        UsageError,
    )

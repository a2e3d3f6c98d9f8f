"""Caches of one size: a decoder writes new tokens into buffers of keys and values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from sardonyx._base.errors import UsageError, refusal
from sardonyx._torch_private import fake_tensors
from sardonyx._torch_private.pytree import tree_leaves
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
            raise without_places(model, "its cache has no tokens, only states")
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
        """The inputs for a cache with places, made of those for one that grows, which has the
        `layout`. `past` places are taken. The place of the first new token is an input, and the
        mask [batch, places] is 1 for those that hold tokens, the new ones too."""
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
        """Gives the cache its places; `position` [1] says how many are taken. Returns what take()
        needs. SX2012 for a class of caches that has none."""
        try:
            return give_places(cache, self.places, position.reshape(()))
        except (TypeError, MissingError) as error:
            raise without_places(model, f"of its cache {error}") from error

    def take(self, cache: Any, former: list[Any]) -> None:
        """Leaves what is in the places in the layers that the cache had."""
        take_places(cache, former)


# So many places that no model has a size of this number, or of a few less.
CHECKED_PLACES = 1009


def counts_from_last_key(run: Callable[[Tensors], object], examples: Sequence[Tensors]) -> bool:
    """Whether the code that `run` runs computes how many places there are but for the new tokens,
    with each of the inputs for `CHECKED_PLACES`: it takes the end of the keys, which is free, for
    the newest ones."""
    for inputs in examples:
        tokens = next(iter(inputs.values())).shape[1]
        with _SeenIntegers() as seen, contextlib.suppress(Exception):
            # Tables that end before these places may make it fail behind that.
            run(inputs)
        if CHECKED_PLACES - tokens not in seen.found:
            return False
    return True


class _SeenIntegers(fake_tensors.TorchDispatchMode):
    """The integers that operators are called with.

    Attributes:
        found: all of them.
    """

    def __init__(self) -> None:
        # PyTorch gives this method no types.
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: set[int] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        self.found.update(leaf for leaf in tree_leaves((args, kwargs)) if type(leaf) is int)
        return function(*args, **kwargs)


def without_places(model: torch.nn.Module, why: str) -> Exception:
    """SX2012: the model cannot have such a cache, and why."""
    return refusal(
        "SX2012",
        f"--static-cache: {type(model).__name__} has no such cache: {why}",
        "leave --static-cache out",
        UsageError,
    )

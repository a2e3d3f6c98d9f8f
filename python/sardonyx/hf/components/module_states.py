"""States that modules of a decoder keep in attributes, next to the cache that it is passed.

Such a model returns no cache: what it was passed, and what the run left in its modules, is one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from sardonyx._transformers_private.caches import returned_cache

_States = dict[str, torch.Tensor]


@dataclass
class CacheAndStates:
    """A cache, and the states of modules by the path of the attribute: "layers.0.conv_state"."""

    cache: Any
    states: _States


def run_with_cache(
    model: torch.nn.Module, argument: str, cache: Any, inputs: Mapping[str, Any]
) -> tuple[Any, Any]:
    """What the model returns for the inputs and a cache, which forward() takes as `argument`, and
    the cache after that run; None for the latter where there is none."""
    if isinstance(cache, CacheAndStates):
        with _with_states(model, cache.states):
            result = model(**inputs, **{argument: cache.cache}, use_cache=True)
            states = _states_of(model)
        return result, CacheAndStates(cache.cache, {name: states[name] for name in cache.states})
    former = _states_of(model)
    result = model(**inputs, **{argument: cache}, use_cache=True)
    after = returned_cache(result, argument, cache)
    if after is None and cache is not None:
        now = _states_of(model)
        states = {name: value for name, value in now.items() if value is not former.get(name)}
        after = CacheAndStates(cache, states) if states else None
    return result, after


def _states_of(model: torch.nn.Module) -> _States:
    """Tensors in attributes of modules, which are neither parameters nor buffers."""
    return {
        f"{path}.{name}" if path else name: value
        for path, module in model.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, torch.Tensor)
    }


@contextlib.contextmanager
def _with_states(model: torch.nn.Module, states: _States) -> Iterator[None]:
    """Within it, the attributes are these; after it, what they were before."""
    former: list[tuple[dict[str, Any], str, Any]] = []
    for path, value in states.items():
        module, _, name = path.rpartition(".")
        attributes = vars(model.get_submodule(module))
        former.append((attributes, name, attributes[name]))
        attributes[name] = value
    try:
        yield
    finally:
        for attributes, name, value in former:
            attributes[name] = value

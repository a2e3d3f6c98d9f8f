"""States that modules of a decoder keep in attributes, next to the cache that it is passed.

Such a model returns no cache: what it was passed, and what the run left in its modules, is one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from sardonyx._torch_private import state as torch_state
from sardonyx._transformers_private.caches import returned_cache
from sardonyx._transformers_private.trees import flatten

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
    the cache after that run; None for the latter where it returns none."""
    if not isinstance(cache, CacheAndStates):
        result = model(**inputs, **{argument: cache}, use_cache=True)
        return result, returned_cache(result, argument, cache)
    with _with_states(model, cache.states):
        result = model(**inputs, **{argument: cache.cache}, use_cache=True)
        found = _attributes(model)
        states = {name: found[name] for name in cache.states}
    return result, CacheAndStates(cache.cache, states)


def cache_after_first_run(
    model: torch.nn.Module, argument: str, cache: Any, inputs: Mapping[str, Any]
) -> Any:
    """The cache that a run with an empty one leaves; None where the model returns none, and its
    modules have not kept states of the rows either."""
    former = _attributes(model)
    held = {name: _contents(value) for name, value in former.items()}
    after = run_with_cache(model, argument, cache, inputs)[1]
    # A model that writes nothing into the cache that it is passed does not use it.
    if after is not None or cache is None or not flatten(cache)[0]:
        return after
    now = _attributes(model)
    changed = {
        name: value
        for name, value in now.items()
        if name not in former or not _is_same(former[name], held[name], value)
    }
    rows = next((each.shape[0] for each in inputs.values() if each.dim()), None)
    # What else it keeps may count for the next run, and there is no place for that.
    are_states = changed and all(_is_state(value, rows) for value in changed.values())
    return CacheAndStates(cache, changed) if are_states else None


def _attributes(model: torch.nn.Module) -> dict[str, Any]:
    """What modules have in attributes, by path."""
    return {
        f"{path}.{name}" if path else name: value
        for path, module in model.named_modules()
        for name, value in vars(module).items()
    }


def _contents(value: Any) -> list[tuple[Any, int]]:
    """What a container holds, and how often each tensor of it was written to: parameters and
    buffers, mostly."""
    if not isinstance(value, (list, tuple, dict)):
        return []
    values = value.values() if isinstance(value, dict) else value
    return [(each, _version(each)) for each in values]


def _version(value: Any) -> int:
    is_counted = isinstance(value, torch.Tensor) and not value.is_inference()
    return torch_state.writes_to(value) if is_counted else 0


def _is_same(before: Any, held: list[tuple[Any, int]], after: Any) -> bool:
    if isinstance(after, (bool, int, float, str)):
        return type(before) is type(after) and bool(before == after)
    now = _contents(after)
    return (
        before is after
        and len(held) == len(now)
        and all(
            one is other and was == is_now
            for (one, was), (other, is_now) in zip(held, now, strict=True)
        )
    )


def _is_state(value: Any, rows: int | None) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 1 and value.shape[0] == rows


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

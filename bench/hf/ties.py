"""Ties that PyTorch itself decides in another way: equal values in top-k, scores in float16, and
keys and values in integers."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import onnx
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class FirstOfEqual(TorchDispatchMode):
    """Within it, top-k takes the first ones of equal values, as ONNX does. PyTorch does not
    define which ones it takes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PyTorch has no types here

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is not torch.ops.aten.topk.default:
            return func(*args, **(kwargs or {}))
        values, k, dim, largest = (*args, *(-1, True)[len(args) - 2 :])[:4]
        ordered = torch.sort(values, dim=dim, descending=largest, stable=True)
        return ordered.values.narrow(dim, 0, k), ordered.indices.narrow(dim, 0, k)


def in_float16(model: torch.nn.Module) -> torch.nn.Module:
    """A copy of the model in float16."""
    return copy.deepcopy(model).half()


@contextmanager
def integer_cache(model: Any, folder: Path) -> Iterator[None]:
    """Within it, generate() of the model has a cache, whose keys and values are rounded to the
    integers of the exported model in the folder, by its scales."""
    from transformers import DynamicCache

    scales = _scales_of_caches(folder)
    update: Any = DynamicCache.update

    def rounded(
        cache: Any, keys: torch.Tensor, values: torch.Tensor, layer: int, *more: Any, **named: Any
    ) -> Any:
        pair = (
            _in_integers(each, scales[layer, name])
            for each, name in ((keys, "key"), (values, "value"))
        )
        return update(cache, *pair, layer, *more, **named)

    cached = mock.patch.object(model.generation_config, "use_cache", True)
    with cached, mock.patch.object(DynamicCache, "update", rounded):
        yield


def _scales_of_caches(folder: Path) -> dict[tuple[int, str], torch.Tensor]:
    """Those of eight bits, by the layer and by "key" or "value"."""
    found = {}
    for path in folder.glob("*.onnx"):
        for each in onnx.load(path).graph.initializer:
            named = re.fullmatch(r"past_key_values\.(\d+)\.(key|value)\.scale", each.name)
            if named is not None:
                scale = torch.tensor(onnx.numpy_helper.to_array(each))
                found[int(named[1]), named[2]] = scale
    return found


def _in_integers(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return (x / scale).round().clamp(-128, 127) * scale

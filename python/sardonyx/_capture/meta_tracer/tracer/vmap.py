"""torch.vmap: functions that run on samples, of which a dimension is hidden.

Samples have the sizes that the mapped function sees, so that rules need to know nothing of it; what
is hidden in them is known by levels, and put back where a result leaves the function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.results import ResultFactory, dims_of, steps_of
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._torch_private.operators import schema_of

if TYPE_CHECKING:
    from sardonyx._capture.meta_tracer.control_flow.repeated_calls import CallHistory


class VmapLevels:
    """The levels of torch.func.vmap that are open in a capture."""

    def __init__(
        self, results: ResultFactory, write: Callable[[Any, tuple[Any, ...], Any], None]
    ) -> None:
        self._results = results
        self._write = write
        self._sizes: list[Any] = []

    @property
    def is_open(self) -> bool:
        """Whether a mapped function runs."""
        return bool(self._sizes)

    def called(self, func: Callable[..., Any], args: tuple[Any, ...], calls: CallHistory) -> Any:
        """What one of torch.func's own functions gives. Declines all but torch.vmap's."""
        rule = _RULES.get(func.__name__)
        if rule is None:
            raise DeclinedError("the model takes derivatives")
        if rule in (VmapLevels.hide, VmapLevels.show):
            return calls.result(func, partial(self._written, rule, func, args))
        given = rule(self, *args)  # levels open and close in each run
        calls.result(func, partial(self._write, func, args, given))
        return given

    def _written(
        self, rule: Callable[..., Any], func: Callable[..., Any], args: tuple[Any, ...]
    ) -> Any:
        given = rule(self, *args)
        self._write(func, args, given)
        return given

    def enter(self, size: Any, randomness: str) -> int:
        if randomness not in ("error", "same", "different"):
            raise DeclinedError(f"randomness {randomness}")
        self._sizes.append(size)
        return len(self._sizes)

    def leave(self) -> int:
        self._sizes.pop()
        return len(self._sizes) + 1

    def prepare(self) -> None:
        """Nothing to do: no decomposition of PyTorch's runs."""

    def hide(self, tensor: torch.Tensor, dim: int, level: int) -> QuickTensor:
        """A sample."""
        dims, steps = dims_of(tensor), steps_of(tensor)
        axis = dim % len(dims)
        made = QuickTensor.of(
            (*dims[:axis], *dims[axis + 1 :]), (*steps[:axis], *steps[axis + 1 :]), tensor.dtype
        )
        made.levels = levels_of(tensor) | {level}
        return made

    def show(self, tensor: torch.Tensor, level: int, size: Any, dim: int) -> QuickTensor:
        """All samples; what is the same of all of them is repeated. How samples lie in memory is
        not known: they are said to lie in rows."""
        dims, steps, levels = dims_of(tensor), steps_of(tensor), levels_of(tensor)
        axis = dim % (len(dims) + 1)
        shape = (*dims[:axis], size, *dims[axis:])
        if not levels:
            return QuickTensor.of(shape, (*steps[:axis], 0, *steps[axis:]), tensor.dtype)
        made = self._results.dense(shape, tensor.dtype)
        made.levels = levels - {level}
        return made

    def check(self, func: Any, args: tuple[Any, ...]) -> frozenset[int]:
        """The levels that an operator's results hide. Declines operators that give samples of a
        kind of their own, or write to them."""
        levels = frozenset[int]().union(*map(levels_of, _tensors(args)))
        tags = set(func.tags)
        if func is torch.ops.aten.index.Tensor and not _masks(args[1]):
            tags.discard(torch.Tag.dynamic_output_shape)
        if schema_of(func).is_mutable or tags & _OF_EACH_SAMPLE:
            raise DeclinedError(f"{func} in a mapped function")
        return levels


def levels_of(tensor: torch.Tensor) -> frozenset[int]:
    """Those at which a dimension of the tensor is hidden."""
    return tensor.levels if type(tensor) is QuickTensor else frozenset()


def _tensors(args: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for each in args:
        if isinstance(each, torch.Tensor):
            found.append(each)
        elif isinstance(each, (list, tuple)):
            found += _tensors(each)
    return found


def _masks(indices: Any) -> bool:
    return any(each.dtype in (torch.bool, torch.uint8) for each in _tensors(indices))


_OF_EACH_SAMPLE = {
    torch.Tag.nondeterministic_seeded,
    torch.Tag.dynamic_output_shape,
    torch.Tag.data_dependent_output,
}
_RULES: dict[str, Callable[..., Any]] = {
    "_vmap_increment_nesting": VmapLevels.enter,
    "_vmap_decrement_nesting": VmapLevels.leave,
    "lazy_load_decompositions": VmapLevels.prepare,
    "_add_batch_dim": VmapLevels.hide,
    "_remove_batch_dim": VmapLevels.show,
}

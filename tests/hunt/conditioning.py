"""What a program's results hang on: how its steps are rounded, whether NaN comes by, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

TRIES = 12
# They subtract what may be equal: what is left then is rounding, of numbers about 1.
NORMALIZATIONS = {
    torch.ops.aten.native_layer_norm,
    torch.ops.aten.native_group_norm,
    torch.ops.aten.native_batch_norm,
}

CASTS = {torch.ops.aten._to_copy, torch.ops.aten.copy_}


class Rounded(TorchDispatchMode):
    """Every new value is off by a unit in its last place, up or down by chance. Where a normalized
    value is nothing but a rounding error, every second seed has 0."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)
        self._clears = bool(seed % 2)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if any(each.alias_info is not None for each in func._schema.returns):
            return result  # views, and what is written in place
        if func.overloadpacket in NORMALIZATIONS and self._clears:
            normal = result[0]
            cleared = normal.where(normal.abs() > torch.finfo(normal.dtype).eps, 0)
            return (cleared, *result[1:])
        if not isinstance(result, torch.Tensor) or not result.is_floating_point():
            return result
        signs = torch.randint(0, 2, result.shape, generator=self._generator) * 2 - 1
        return result * (1 + signs * torch.finfo(result.dtype).eps).to(result.dtype)


class Watched(TorchDispatchMode):
    """Sees whether a step gives what is asked for."""

    def __init__(self, is_it: Callable[[torch.Tensor], bool]) -> None:
        super().__init__()
        self._is_it = is_it
        self.found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.found |= self._is_it(result)
        return result


def makes_nan(run: Callable[[], object]) -> bool:
    with Watched(lambda result: bool(result.isnan().any())) as watched:
        run()
    return watched.found


def makes_nothing(run: Callable[[], object]) -> bool:
    """Whether a step gives a tensor without elements."""
    with Watched(lambda result: result.numel() == 0) as watched:
        run()
    return watched.found


class Casts(TorchDispatchMode):
    """Sees whether an infinity or NaN is cast to integers, which is as the processor has it."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [each for each in args if isinstance(each, torch.Tensor)]
        if func.overloadpacket in CASTS and not _has_fractions(result):
            self.found |= any(not each.isfinite().all() for each in given)
        return result


def casts_no_numbers(run: Callable[[], object]) -> bool:
    with Casts() as casts:
        run()
    return casts.found


def _has_fractions(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool


def hangs_on_rounding(run: Callable[[], list[torch.Tensor]], have: list[torch.Tensor]) -> bool:
    """Whether what a model has lies among eager results, or as far outside as these spread, once
    each step is off by a unit in its last place."""
    tries: list[list[torch.Tensor]] = []
    for seed in range(TRIES):
        with Rounded(seed):
            tries.append(run())
    if any(len(each) != len(have) for each in tries):
        return False  # control flow, which does not run under a mode
    return all(_lies_among(mine, each) for mine, *each in zip(have, *tries, strict=True))


def _lies_among(mine: torch.Tensor, tries: list[torch.Tensor]) -> bool:
    if any(each.shape != mine.shape or each.dtype != mine.dtype for each in tries):
        return False
    found = torch.stack([_numbers(each) for each in tries])
    low, high = found.amin(0), found.amax(0)
    number = _numbers(mine)
    inside = (number >= low - (high - low)) & (number <= high + (high - low))
    return bool((inside | (number == low) | (number.isnan() & low.isnan())).all())


def _numbers(tensor: torch.Tensor) -> torch.Tensor:
    parts = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return parts.to(torch.float64)

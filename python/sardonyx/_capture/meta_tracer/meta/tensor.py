"""A tensor that knows its sizes, and holds nothing."""

from __future__ import annotations

from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import Sizes, hint, is_static
from sardonyx._torch_private import modes

_aten = torch.ops.aten


class QuickTensor(torch.Tensor):
    """Sizes and strides may be symbolic; to PyTorch's own code they are the example's, and asking
    for them by name gives what they really are."""

    dims: Sizes
    steps: Sizes
    made_by: torch.fx.Node | None
    # At which a dimension is hidden: within torch.vmap.
    levels: frozenset[int]
    # Set while contiguous() runs: a copy of what only the example has in rows is right for all.
    is_copied_where_unsure = False

    @staticmethod
    def of(dims: Sizes, steps: Sizes, dtype: torch.dtype) -> QuickTensor:
        """On the CPU, made by no call as yet."""
        made = modes.tensor_of(
            QuickTensor,
            [_example(size) for size in dims],
            [_example(step) for step in steps],
            dtype,
            is_static=is_static(dims),
        )
        made.dims, made.steps, made.made_by, made.levels = dims, steps, None, _NO_LEVELS
        result: QuickTensor = made
        return result

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        """As messages of errors have it, also of those that nobody sees."""
        return f"a tensor of {self.dtype}{list(self.dims)}"

    __torch_function__ = modes.NO_TORCH_FUNCTION

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self = args[0] if args and isinstance(args[0], QuickTensor) else None
        if self is not None:
            if func is _aten.detach.default:  # what PyTorch's own factories do to their result
                made = QuickTensor.of(self.dims, self.steps, self.dtype)
                made.made_by = self.made_by
                return made
            if func is _aten.sym_size.default:
                return self.dims
            if func is _aten.sym_stride.default:
                return self.steps
            if func is _aten.dim.default:
                return len(self.dims)
            if func is _aten.sym_numel.default:
                from sardonyx._capture.meta_tracer.symbolic.sizes import product

                return product(self.dims)
            if func is _aten.is_contiguous.default:
                return _lies_in_rows(self)
        raise DeclinedError(f"{func} of a tensor without data")


_NO_LEVELS: frozenset[int] = frozenset()


def _example(size: Any) -> int:
    """The example's size; any number for data-dependent sizes, which PyTorch asks for by name."""
    if type(size) is int:
        return size
    known = size.node.hint
    return 7 if known is None else int(known)


def _lies_in_rows(tensor: QuickTensor) -> bool:
    """Declines where only the example tells: torch.export makes that an assumption."""
    from sardonyx._capture.meta_tracer.symbolic.sizes import Strides

    strides = Strides()
    if strides.is_contiguous(tensor.dims, tensor.steps):
        return True
    if QuickTensor.is_copied_where_unsure:
        return False
    example = [tuple(map(hint, each)) for each in (tensor.dims, tensor.steps)]
    if strides.is_contiguous(*example):
        raise DeclinedError("whether a tensor lies in rows depends on sizes")
    return False

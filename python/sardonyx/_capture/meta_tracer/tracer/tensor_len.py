"""`len()` of tensors as long as data say, for which Python wants a number."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.results import dims_of
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.sizes import is_by_data
from sardonyx._capture.patches.patching import Replacement, replaced


class LengthError(DeclinedError):
    """Python asks for such a length."""


def check_length(tensor: torch.Tensor) -> None:
    """Raises LengthError where its length is data-dependent."""
    if dims_of(tensor) and is_by_data(dims_of(tensor)[:1]):
        raise LengthError("len() of a tensor with a data-dependent length")


@contextmanager
def lengths_are_sizes() -> Iterator[None]:
    """Within it, len() gives what a tensor's shape says. All that Python does takes longer there,
    so that models are captured without it first."""
    count = builtins.len

    def length(each: Any) -> Any:
        return each.dims[0] if type(each) is QuickTensor and each.dims else count(each)

    with replaced([Replacement(builtins, "len", length)]):
        yield

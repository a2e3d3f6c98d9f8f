"""Whether a model's own code repeats something as often as a dynamic size says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.source_location import frames_of_model

from .patching import Replacement, replaced


class Iterations:
    """What is seen of a model's runs.

    Attributes:
        are_any: whether the model's own code has gone through a tensor's dynamic first dimension,
            or given Python a dynamic size for a number, as `range(n)` and `len(x)` do.
    """

    def __init__(self) -> None:
        self.are_any = False

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Within it, they are."""
        of_size: Any = torch.SymInt.__index__
        of_tensor: Any = torch.Tensor.__iter__

        def index(size: Any) -> Any:
            self._note(size)
            return of_size(size)

        def elements(tensor: Any) -> Any:
            if tensor.dim():
                self._note(tensor.shape[0])
            return of_tensor(tensor)

        with replaced([
            Replacement(torch.SymInt, "__index__", index),
            Replacement(torch.Tensor, "__iter__", elements),
        ]):  # fmt: skip
            yield

    def _note(self, size: Any) -> None:
        if not self.are_any and is_dynamic(size):
            self.are_any = next(frames_of_model(), None) is sys._getframe(2)


def is_dynamic(size: Any) -> bool:
    """Whether a number of elements is another for other inputs."""
    return isinstance(size, torch.SymInt) and not size.node.is_constant()

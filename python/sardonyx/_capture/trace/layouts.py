"""Strides that a model asks for while torch.jit.trace runs it: the trace keeps the example's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.guards.data_dependence import varies
from sardonyx._capture.guards.specializations import Specializations
from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._capture.source_location import user_place
from sardonyx._torch_private import torchscript


@contextmanager
def telling_of_strides(specializations: Specializations) -> Iterator[None]:
    """Within it, `specializations` gets the lines of the model that ask for strides of a traced
    tensor whose sizes may vary."""
    kind: Any = torch.Tensor
    stride = kind.stride

    def noted(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if torchscript.is_tracing():
            shape: Any = tensor.shape  # of tensors, while it is traced
            sizes = [size for size in shape if isinstance(size, torch.Tensor)]
            if any(map(varies, sizes)) and (place := user_place()) is not None:
                specializations.python.append(place)
        return stride(tensor, *args, **kwargs)

    with replaced([Replacement(kind, "stride", noted)]):
        yield

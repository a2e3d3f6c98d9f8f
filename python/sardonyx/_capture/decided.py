"""Whether elements of tensors decide what a traced model does, or sizes alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .frozen import Frozen
from .places import Place, user_place
from .replaced import Replacement, replaced

# Methods by which Python learns elements.
_ASKING = (
    "__bool__",
    "__int__",
    "__float__",
    "__complex__",
    "__index__",
    "item",
    "tolist",
    "numpy",
)
# What these give does not hang on the elements of a tensor.
_OF_SIZES = {
    "aten::size",
    "aten::sym_size",
    "aten::numel",
    "aten::dim",
    "aten::len",
    "aten::_shape_as_tensor",
    "prim::Constant",
    "prim::GetAttr",  # a parameter
}


@contextmanager
def telling_of_elements(frozen: Frozen) -> Iterator[None]:
    """Within it, `frozen` gets the lines where Python asks a traced model's tensors for elements
    that come from its inputs."""
    kind: Any = torch.Tensor

    def told(method: Callable[..., Any]) -> Callable[..., Any]:
        def called(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if torch._C._get_tracing_state() is None:
                return method(tensor, *args, **kwargs)
            place = user_place()
            if _is_of_elements(tensor):
                frozen.elements.append(place or Place("", 0))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = method(tensor, *args, **kwargs)
            for each in caught:
                file, line = (place.file, place.line) if place else (each.filename, each.lineno)
                warnings.warn_explicit(each.message, each.category, file, line)
            return result

        return called

    with replaced([Replacement(kind, name, told(getattr(kind, name))) for name in _ASKING]):
        yield


def _is_of_elements(tensor: torch.Tensor) -> bool:
    trace: Any = torch._C
    value = trace._get_value_trace(tensor)
    seen: set[int] = set()
    rest = [value]
    while rest:
        value = rest.pop()
        node = value.node()
        if value.unique() in seen or node.kind() in _OF_SIZES:
            continue
        if node.kind() == "prim::Param":
            return True
        seen.add(value.unique())
        rest += node.inputs()
    return False

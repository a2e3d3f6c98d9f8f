"""Whether elements of tensors decide what a traced model does, or sizes alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._capture.source_location import Place, user_place
from sardonyx._torch_private import torchscript

from .assertions import answer_that_passes
from .specializations import Specializations

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
# By which it learns how many there are.
_COUNTING = ("__len__", "__iter__")
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
# The first dimension of what these give is as long as the elements of their inputs say.
_LENGTH_BY_ELEMENTS = (
    "aten::nonzero",
    "aten::masked_select",
    "aten::unique",
    "aten::_unique",
    "aten::bincount",
    "torchvision::nms",
)


@contextmanager
def telling_of_elements(specializations: Specializations) -> Iterator[None]:
    """Within it, `specializations` gets the lines where Python asks a traced model's tensors for
    elements that come from its inputs, or how many of something such elements select."""
    kind: Any = torch.Tensor
    number = kind.__int__

    def reported(name: str) -> Callable[..., Any]:
        method = getattr(kind, name)

        def called(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if not torchscript.is_tracing():
                return method(tensor, *args, **kwargs)
            place = user_place()
            passing = answer_that_passes() if name == "__bool__" else None
            if passing is None and _decides(name, tensor):
                specializations.elements.append(place or Place("", 0))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = method(tensor, *args, **kwargs)
                # Python would ask a traced length for __index__. It is a number already where a
                # mode of torch's functions stands between, which calls this once more.
                if name == "__len__" and isinstance(result, torch.Tensor):
                    result = number(result)
            if passing is not None and result is passing and place is not None:
                specializations.checks.append(place)
                return result
            for each in caught:
                file, line = (place.file, place.line) if place else (each.filename, each.lineno)
                warnings.warn_explicit(each.message, each.category, file, line)
            return result

        return called

    with replaced([Replacement(kind, name, reported(name)) for name in (*_ASKING, *_COUNTING)]):
        yield


def _decides(name: str, tensor: torch.Tensor) -> bool:
    """Whether what the method is asked for hangs on elements of the inputs. Of how many they select
    branches and lengths may, of which there are warnings; loops and other numbers may not."""
    if name == "__len__":
        return False
    if name == "__iter__":
        return _is_long_by_elements(_value(tensor))
    return _is_of_elements(_value(tensor), counts=name != "__bool__")


def varies(number: torch.Tensor) -> bool:
    """Whether a traced number is one of the sizes or elements of the inputs, or made of them."""
    return _comes_from(
        _value(number),
        lambda node: node.kind() in ("prim::NumToTensor", "prim::Param"),
        lambda node: node.kind() == "prim::GetAttr",
    )


def _value(tensor: torch.Tensor) -> Any:
    return torchscript.traced_value(tensor)


def _is_of_elements(value: Any, *, counts: bool) -> bool:
    """Whether elements of the inputs decide the value; with `counts`, also how many they select."""
    return _comes_from(
        value,
        lambda node: node.kind() == "prim::Param",
        lambda node: node.kind() in _OF_SIZES and not (counts and _is_of_a_length(node)),
    )


def _is_of_a_length(node: Any) -> bool:
    """Whether the node gives a first dimension that elements decide, or a product with it."""
    inputs = list(node.inputs())
    if node.kind() in ("aten::size", "aten::sym_size") and len(inputs) > 1:
        dim = inputs[1].node()
        if dim.kind() != "prim::Constant" or inputs[1].toIValue() != 0:
            return False
    has_tensor = bool(inputs) and node.kind() not in (
        "prim::Constant",
        "prim::GetAttr",
        "aten::dim",
    )
    return has_tensor and _is_long_by_elements(inputs[0])


def _is_long_by_elements(value: Any) -> bool:
    return _comes_from(value, _selects, lambda node: node.kind() in _OF_SIZES)


def _selects(node: Any) -> bool:
    if node.kind() == "aten::index":
        indices = list(node.inputs())[1].node().inputs()
        return any(_is_bool(each) for each in indices)
    if node.kind() == "aten::where":
        return len(list(node.inputs())) == 1
    return bool(node.kind().startswith(_LENGTH_BY_ELEMENTS))


def _is_bool(value: Any) -> bool:
    kind = value.type()
    return kind.kind() == "TensorType" and kind.scalarType() in ("Bool", "Byte")


def _comes_from(value: Any, is_it: Callable[[Any], bool], ends: Callable[[Any], bool]) -> bool:
    """Whether some node that the value is computed of is such; none behind a node that `ends`."""
    seen: set[int] = set()
    rest = [value]
    while rest:
        value = rest.pop()
        node = value.node()
        if value.unique() in seen or ends(node):
            continue
        if is_it(node):
            return True
        seen.add(value.unique())
        rest += node.inputs()
    return False

"""Tensors whose values are known while a model is captured: sizes of images, mostly.

Models that take images of any size ask the sizes for Python numbers: how many patches there are,
where each image ends. A captured program has no such numbers of its inputs. Where the sizes are
fixed for the exported model, everything that is computed of them alone is computed while it is
captured, and stands in the program as a constant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sardonyx._base.errors import CaptureError
from sardonyx._torch_private import contexts, pytree

# Constants of more elements than this are left to the program.
_MAX = 1 << 22
_FACTORIES = frozenset(
    (
        torch.arange,
        torch.empty,
        torch.full,
        torch.linspace,
        torch.ones,
        torch.tensor,
        torch.zeros,
    )
)
# What models make of numbers to write to it: values that are known, or what a run computes.
_WRITTEN_TO = frozenset((torch.empty, torch.full, torch.ones, torch.zeros))


class KnownValues(TorchFunctionMode):
    """Computes functions of known tensors and numbers at once."""

    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        with _for_real():
            self.tensors = {name: tensor.clone() for name, tensor in tensors.items()}
        # By identity; held, so that no other tensor gets the identity of one that is gone.
        self._known: dict[int, torch.Tensor] = {id(t): t for t in self.tensors.values()}
        # Of tensors of the program that are known: what they hold, and where others look at that.
        self._held: dict[int, torch.Tensor] = {}
        self._seen: set[int] = set()

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """The call, for real where all that it takes is known."""
        kwargs = kwargs or {}
        if not self._all_known(function, args, kwargs):
            return function(*args, **kwargs)
        held, named = pytree.tree_map_only(torch.Tensor, self._values, (args, kwargs))
        with _for_real():
            result = function(*held, **named)
        if function in _WRITTEN_TO:
            # It stays one of the program's, too, since a run may write to it.
            return self._is_known(function(*args, **kwargs), result)
        if _writes(function) and id(args[0]) in self._held:
            return function(*args, **kwargs)
        if isinstance(result, Iterator):
            result = tuple(result)
        for tensor in pytree.tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self._is_known(tensor)
                self._seen.add(_place(tensor))
        return iter(result) if function is torch.Tensor.__iter__ else result

    def _is_known(self, tensor: torch.Tensor, held: torch.Tensor | None = None) -> torch.Tensor:
        self._known[id(tensor)] = tensor
        if held is not None:
            self._held[id(tensor)] = held
        return tensor

    def _values(self, tensor: torch.Tensor) -> torch.Tensor:
        return self._held.get(id(tensor), tensor)

    def _all_known(self, function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
        leaves = pytree.tree_leaves((args, kwargs))
        if any(isinstance(leaf, (torch.SymInt, torch.SymFloat, torch.SymBool)) for leaf in leaves):
            return False
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        known = [id(tensor) in self._known for tensor in tensors]
        if all(known):
            return bool(tensors) or function in _FACTORIES
        if known[0] and _writes(function):
            held = self._held.pop(id(tensors[0]), None)
            if held is not None and _place(held) not in self._seen:
                # Now it holds what a run computes.
                del self._known[id(tensors[0])]
                return False
            raise CaptureError("the model writes what a run computes into what is known before it")
        return False


def _place(tensor: torch.Tensor) -> int:
    with contexts.unseen():  # is nothing that the model calls
        return tensor.untyped_storage().data_ptr()


def _writes(function: Callable[..., Any]) -> bool:
    name = getattr(function, "__name__", "")
    return name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))


def with_known(
    call: Callable[..., Any], known: Mapping[str, torch.Tensor], fixed: Mapping[str, Any]
) -> Callable[..., Any]:
    """`call`, which is given the tensors `known`, whose values are looked at, and `fixed`."""

    def run(**inputs: Any) -> Any:
        if not known:
            return call(**inputs, **fixed)
        with KnownValues(known) as mode:
            return call(**inputs, **mode.tensors, **fixed)

    return run


@contextlib.contextmanager
def _for_real() -> Iterator[None]:
    """Outside of whatever captures the program."""
    with contexts.computing():
        yield

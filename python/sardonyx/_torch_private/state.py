"""What modules, tensors and PyTorch's settings hold."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any, NamedTuple

from .probing import MissingError, Probe, has, lookup


def parameters_of(module: Any) -> dict[str, Any]:
    """A module's own parameters: the table itself."""
    table: dict[str, Any] = module._parameters
    return table


def buffers_of(module: Any) -> dict[str, Any]:
    """A module's own buffers: the table itself."""
    table: dict[str, Any] = module._buffers
    return table


def names_of_unsaved_buffers(module: Any) -> set[str]:
    """The names of a module's own buffers that its state_dict() leaves out."""
    names: set[str] = module._non_persistent_buffers_set
    return names


_CALLS = Probe("what a module's call runs", has("torch.nn", "Module._call_impl"))


def method_that_calls() -> str:
    """The name of the method of torch.nn.Module to replace where calls of modules are watched.

    Python looks through all subclasses where `__call__` itself is replaced: 8 ms with those of
    transformers.
    """
    return "_call_impl" if _CALLS.available else "__call__"


def memory_of(tensor: Any) -> int:
    """What tensors have in common that share their memory, also where they have no data."""
    return int(tensor.untyped_storage()._cdata)


def writes_to(tensor: Any) -> int:
    """How often a tensor has been written to."""
    return int(tensor._version)


def default_device() -> Any:
    """The device of torch.set_default_device() as PyTorch keeps it; None where none is set."""
    import torch

    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)


def list_makers() -> None:
    """Has PyTorch list the functions that make tensors. It does so where a device is first chosen
    by `with torch.device(...)`, and keeps the list: those that stand in for others meanwhile would
    be in it for good, and the others be made on the CPU."""
    with suppress(MissingError):
        lookup("torch.utils._device", "_device_constructors")()


def single_level_function() -> Any:
    """The class that autograd.Function derives from."""
    return importlib.import_module("torch.autograd.function")._SingleLevelFunction


def _base_applies() -> None:
    """Raises where Function.apply() doesn't hand on to its base."""
    base, seen = single_level_function(), []

    class Probed(_function()):  # type: ignore[misc]  # a base that mypy sees as Any
        @staticmethod
        def forward(_: Any, number: int) -> int:
            return number

    base.apply = classmethod(lambda *_: seen.append(True))
    try:
        with suppress(Exception):
            Probed.apply(1)
    finally:
        del base.apply
    if not seen:
        raise MissingError("Function.apply() of this PyTorch is one function in C++")


def _function() -> Any:
    return importlib.import_module("torch.autograd.function").Function


BOUND_APPLIES = Probe(
    "traces of autograd.Functions whose apply() a model has bound to a name", _base_applies
)


def class_of_apply() -> Any:
    """The class whose apply() autograd.Functions go through, where another one can stand: that of
    their base, which applies that models have bound to a name of their own go through, too, or
    Function itself."""
    return single_level_function() if BOUND_APPLIES.available else _function()


def function_classes() -> list[Any]:
    """The autograd.Functions that there are."""
    found, left = [], _function().__subclasses__()
    while left:
        cls = left.pop()
        found.append(cls)
        left += cls.__subclasses__()
    return found


# The attributes of modules that hold their weights and modules.
STRUCTURE = frozenset({"_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"})


def check_with() -> tuple[Any, str]:
    """Where the function is that torch._check() and its like call: the module, and its name."""
    return importlib.import_module("torch"), "_check_with"


class Build(NamedTuple):
    """Which PyTorch this is: its version, and the commit that it was built of."""

    version: str
    commit: str


def build_of_torch() -> Build:
    """The installed one."""
    import torch

    return Build(torch.__version__, getattr(torch.version, "git_version", None) or "")

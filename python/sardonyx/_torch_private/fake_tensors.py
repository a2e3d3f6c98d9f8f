"""Tensors without data: torch._subclasses.fake_tensor.

Importing this module imports no torch; asking it for a class does.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
from typing import TYPE_CHECKING, Any

from .probing import MissingError, Probe, has, lookup, patched

__all__ = [
    "FakeTensor",
    "FakeTensorMode",
    "FunctionalTensor",
    "TorchDispatchMode",
    "caches_disabled",
    "checkpoint_offset",
    "decided_by_data",
    "is_fake_mode_active",
    "logger",
    "looks_at_data",
    "uncached",
    "unset_fake_temporarily",
]

if TYPE_CHECKING:
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
    from torch._subclasses.functional_tensor import FunctionalTensor
    from torch.utils._python_dispatch import TorchDispatchMode

_MODULE = "torch._subclasses.fake_tensor"
_CONFIG, _ENABLED = "torch._dynamo.config", "fake_tensor_cache_enabled"
_NAMES = {
    "FakeTensor": _MODULE,
    "FakeTensorMode": _MODULE,
    "unset_fake_temporarily": _MODULE,
    "FunctionalTensor": "torch._subclasses.functional_tensor",
    "TorchDispatchMode": "torch.utils._python_dispatch",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(name)
        found = globals()[name] = getattr(importlib.import_module(_NAMES[name]), name)
        return found


def uncached(mode: Any) -> contextlib.AbstractContextManager[None]:
    """Within it, a FakeTensorMode runs each operator, also one whose result it remembers."""
    disabled: contextlib.AbstractContextManager[None]
    disabled = lookup(_MODULE, "disable_fake_tensor_cache")(mode)
    return disabled


CACHE = Probe("fake tensors without a cache", has(_CONFIG, _ENABLED))


def caches_disabled() -> contextlib.AbstractContextManager[None]:
    """Within it, FakeTensorModes are made without a cache. For tensors of symbolic sizes, an entry
    takes longer to make and to check than most operators take to run again."""
    if not CACHE.available:
        return contextlib.nullcontext()
    disabled: contextlib.AbstractContextManager[None]
    disabled = patched(importlib.import_module(_CONFIG), _ENABLED, False)
    return disabled


def is_fake_mode_active() -> bool:
    """Whether tensors have no data where this is called."""
    import torch

    return bool(torch._guards.detect_fake_mode())


@functools.cache
def decided_by_data() -> tuple[type[Exception], ...]:
    """What capture raises where it would have to know data."""
    symbolic = "torch.fx.experimental.symbolic_shapes"
    return _found(
        (_MODULE, "DataDependentOutputException"), (symbolic, "GuardOnDataDependentSymNode")
    )


@functools.cache
def looks_at_data() -> tuple[type[Exception], ...]:
    """What fake tensors raise where a model looks at data, or makes a size of it."""
    return _found(
        (_MODULE, "DataDependentOutputException"), (_MODULE, "DynamicOutputShapeException")
    )


def _found(*classes: tuple[str, str]) -> tuple[type[Exception], ...]:
    """Those of these classes that this PyTorch has; what it lacks is an error like any other."""
    found = []
    for module, name in classes:
        with contextlib.suppress(MissingError):
            found.append(lookup(module, name))
    return tuple(found)


def logger() -> logging.Logger:
    """Of fake tensors."""
    return logging.getLogger(_MODULE)


def checkpoint_offset(tensor: Any) -> int | None:
    """Where in its file a fake tensor's storage lies, which torch.load() tells; None of others."""
    return getattr(tensor.untyped_storage(), "_checkpoint_offset", None)

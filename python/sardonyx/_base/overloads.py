"""Operators of PyTorch by the names that schemas have."""

from __future__ import annotations

from typing import Any


def overload_of(name: str) -> Any:
    """The overload "space::name.overload" ("default" where none is said); None where PyTorch has no
    such one."""
    import torch

    space, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, space), base, None)
    return getattr(packet, overload or "default", None)

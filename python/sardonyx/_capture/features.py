"""What of the package is available with the installed PyTorch."""

from __future__ import annotations

from sardonyx._torch_private.features import Feature
from sardonyx._torch_private.features import features as of_torch


def features() -> list[Feature]:
    """Quick capture, as it is used here, and what else needs more of PyTorch than it promises.
    Imports torch, and in a build of it that is new here compares small programs, once."""
    from .quick.trust import distrust

    reason = distrust()
    return [Feature("quick capture", not reason, reason), *of_torch()]

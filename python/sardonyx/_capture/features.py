"""What of the package is available with the installed PyTorch."""

from __future__ import annotations

from sardonyx._torch_private import features as torch_features


def features() -> list[torch_features.Feature]:
    """Quick capture, as it is used here, and what else needs more of PyTorch than it promises.
    Imports torch, and in a build of it that is new here compares small programs, once."""
    from .quick.trust import distrust

    reason = distrust()
    quick = torch_features.Feature("quick capture", not reason, reason)
    return [quick, *torch_features.features()]

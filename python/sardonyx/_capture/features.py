"""What of the package is available with the installed PyTorch."""

from __future__ import annotations

from sardonyx._torch_private import features as torch_features


def features() -> list[torch_features.Feature]:
    """Fake-tensor tracing, and what else needs more of PyTorch than it promises.
    Imports torch, and in a build of it that is new here compares small programs, once."""
    from .meta_tracer.entry.trust import distrust

    reason = distrust()
    quick = torch_features.Feature("fake-tensor tracing", not reason, reason)
    return [quick, *torch_features.features()]

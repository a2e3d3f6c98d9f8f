"""torch.cond of what sympy takes for always so: `torch.cond(x.shape[0] > 0, …)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sardonyx._torch_private.questions import relation_that_may_fail

from .patching import Replacement, replaced

_ORIGINAL = "_without_watcher"


@contextmanager
def watched_conditions(on_decided: Callable[[Any, bool], None] | None) -> Iterator[None]:
    """Within it, `on_decided` is called with the relation of sizes that torch.cond decides for
    good, since sizes are positive to sympy, and the answer."""
    if on_decided is None:
        yield
        return
    import torch

    cond = torch.cond

    def watched_cond(pred: Any, *args: Any, **kwargs: Any) -> Any:
        relation = relation_that_may_fail(pred)
        if relation is not None:
            on_decided(relation, bool(pred.node.expr))
        return cond(pred, *args, **kwargs)

    setattr(watched_cond, _ORIGINAL, cond)
    with replaced([Replacement(torch, "cond", watched_cond)]):
        yield


@contextmanager
def plain_conditions() -> Iterator[None]:
    """Within it, torch.cond is PyTorch's own, which TorchDynamo knows by identity."""
    import torch

    with replaced([Replacement(torch, "cond", getattr(torch.cond, _ORIGINAL, torch.cond))]):
        yield

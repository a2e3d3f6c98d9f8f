"""One run of a module that torch.export does not capture, for what it does that may be why."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@dataclass
class ObservedRun:
    """What was observed in a run of the model; the model's error alone where it raised one."""

    results: Any = None
    packs_sequences: bool = False
    error: Exception | None = None

    @property
    def gives_quantized(self) -> bool:
        """Whether a quantized tensor is among the results."""
        from sardonyx._torch_private import pytree

        leaves = pytree.tree_leaves(self.results)
        return any(getattr(leaf, "is_quantized", False) is True for leaf in leaves)


def observed_run(
    module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> ObservedRun:
    """Runs the module on copies of its inputs; its buffers and random numbers are as before."""
    import torch

    from sardonyx._capture.patches.restoration import module_kept
    from sardonyx._torch_private.operators import watching_packed_sequences

    from .buffers import buffers_put_back

    seen = ObservedRun()

    def on_packed() -> None:
        seen.packs_sequences = True

    try:
        inputs = copy.deepcopy((args, dict(kwargs)))
    except Exception:
        return ObservedRun()
    try:
        watching = watching_packed_sequences(on_packed)
        kept = module_kept(module)
        with torch.no_grad(), torch.random.fork_rng(), kept, buffers_put_back(module), watching:
            seen.results = module(*inputs[0], **inputs[1])
    except Exception as error:
        return ObservedRun(error=error)
    return seen

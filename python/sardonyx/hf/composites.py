"""Models of several that have no forward() of their own, as Qwen2.5-Omni, which thinks, talks and
makes sound of it: what is exported is the part that reads and writes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import OnnxExporterError

from .tasks import choose

if TYPE_CHECKING:
    from .checkpoint import Checkpoint

_CONFIG = "_config"


def part_that_runs(checkpoint: Checkpoint) -> tuple[Checkpoint, list[str]]:
    """The checkpoint, or that of its part, and what is to be told of it."""
    whole = _class_of(checkpoint.config)
    if whole is None or _runs(whole) or not checkpoint.has_safetensors:
        return checkpoint, []
    modules = {weight.name.partition(".")[0] for weight in checkpoint.weights()}
    for setting in getattr(checkpoint.config, "sub_configs", {}):
        name = setting.removesuffix(_CONFIG)
        inner = getattr(checkpoint.config, setting, None)
        if name not in modules or inner is None:
            continue
        try:
            found = choose(inner, None)
        except OnnxExporterError:
            continue
        if found.task.generates and _runs(found.model_class):
            note = f"{whole.__name__} has no forward(): its part '{name}' is exported"
            return replace(checkpoint, config=inner, part=name), [note]
    return checkpoint, []


def _class_of(config: Any) -> type[Any] | None:
    import transformers

    names = getattr(config, "architectures", None) or ()
    found = getattr(transformers, names[0], None) if names else None
    return found if isinstance(found, type) else None


def _runs(model_class: type[Any]) -> bool:
    import torch

    return model_class.forward is not torch.nn.Module.forward

"""Models that have no forward() of their own. Of one of several, as Qwen2.5-Omni, which thinks,
talks and makes sound of it, the part is exported that reads and writes; of a codec, as GLM-Image's
of images, what it makes of its input."""

from __future__ import annotations

import copy
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import OnnxExporterError
from sardonyx.hf.base.tasks import choose, class_named

if TYPE_CHECKING:
    from sardonyx.hf.checkpoints.checkpoint import Checkpoint

_CONFIG = "_config"


def part_that_runs(checkpoint: Checkpoint) -> tuple[Checkpoint, list[str]]:
    """The checkpoint, or that of its part, and what is to be told of it."""
    names = getattr(checkpoint.config, "architectures", None) or ()
    whole = class_named(names[0]) if names else None
    if whole is None or runs(whole) or not checkpoint.has_safetensors:
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
            if (own := _class_of(inner, whole)) is None:
                continue
            inner = copy.deepcopy(inner)
            inner.architectures = [own.__name__]
            found = choose(inner, None)
        if found.task.generates and runs(found.model_class):
            note = f"{whole.__name__} has no forward(): its part '{name}' is exported"
            return replace(checkpoint, config=inner, part=name), [note]
    return checkpoint, []


def run_as_encoder(model: Any) -> list[str]:
    """Has a model that encodes, and has no forward(), run as its encode(); what is to be told."""
    if runs(type(model)) or not hasattr(model, "encode"):
        return []
    model.forward = model.encode  # of this model alone
    return [f"{type(model).__name__} has no forward(): its encode() is exported"]


def _class_of(config: Any, whole: type[Any]) -> type[Any] | None:
    """The class beside that of the whole that says to be of such a configuration, for parts that no
    auto class knows, as Bark's are none."""
    for each in vars(sys.modules[whole.__module__]).values():
        if isinstance(each, type) and getattr(each, "config_class", None) is type(config):
            return None if class_named(each.__name__) is None else each
    return None


def runs(model_class: type[Any]) -> bool:
    """Whether it has a forward()."""
    import torch

    return model_class.forward is not torch.nn.Module.forward

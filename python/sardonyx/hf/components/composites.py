"""Models that have no forward() of their own. Of one of several, as Qwen2.5-Omni, which thinks,
talks and makes sound of it, the part is exported that reads and writes; of a codec, as GLM-Image's
of images, what it makes of its input; of one that follows objects through a video, what it makes of
its frames."""

from __future__ import annotations

import copy
import inspect
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import OnnxExporterError
from sardonyx.hf.base.media import IMAGES
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
    """Has a model run as what encodes its input, where that is all of it that can be exported: one
    that has no forward(), or whose forward() takes the session of a video, which is no tensor. What
    is to be told."""
    kind = type(model)
    if runs(kind):
        return []
    session = _session_of(kind)
    encode = getattr(model, "encode", None) if session is None else IMAGES.maker(model)
    if encode is None:
        return []
    model.forward = encode  # of this model alone
    why = "has no forward()" if session is None else f"takes a {session.__name__}"
    return [f"{kind.__name__} {why}: its {encode.__name__}() is exported"]


def _session_of(model_class: type[Any]) -> type[Any] | None:
    """The class beside the model's that its forward() wants an instance of; None where it takes
    tensors."""
    parameters = list(inspect.signature(model_class.forward).parameters.values())[1:]
    kinds = (each.annotation for each in parameters if each.default is each.empty)
    first = next(kinds, None)
    if isinstance(first, str):
        first = vars(sys.modules[model_class.__module__]).get(first)
    is_own = isinstance(first, type) and first.__module__ == model_class.__module__
    return first if is_own else None


def _class_of(config: Any, whole: type[Any]) -> type[Any] | None:
    """The class beside that of the whole that says to be of such a configuration, for parts that no
    auto class knows, as Bark's are none."""
    for each in vars(sys.modules[whole.__module__]).values():
        if isinstance(each, type) and getattr(each, "config_class", None) is type(config):
            return None if class_named(each.__name__) is None else each
    return None


def runs(model_class: type[Any]) -> bool:
    """Whether it has a forward() that takes tensors."""
    import torch

    has_forward = model_class.forward is not torch.nn.Module.forward
    return has_forward and _session_of(model_class) is None

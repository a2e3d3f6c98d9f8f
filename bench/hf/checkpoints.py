"""A small checkpoint of any architecture of transformers, for any task."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.architectures.tiny import PROFILES, config_class, parts_of, tiny_config

from sardonyx import ProgramError

_MAX_PARAMETERS = 150_000_000
# What checkpoints of an architecture that has several are published for, foremost first.
_FOREMOST = (
    "text2text-generation",
    "automatic-speech-recognition",
    "image-text-to-text",
    "fill-mask",
)
# Of these every architecture has one, and none is published for them where it has another.
_LAST = ("pretraining", "feature-extraction", "backbone")


def architectures(task: str) -> list[str]:
    """Those that have a class for the task."""
    from transformers.models.auto import modeling_auto

    from sardonyx.hf.base.tasks import task_named

    found: set[str] = set()
    for auto in task_named(task)[0].auto_classes:
        found |= set(getattr(modeling_auto, auto)._model_mapping._model_mapping)
    return sorted(found)


def foremost_tasks() -> dict[str, str]:
    """The task that each architecture is published for, by architecture; decoders of text, which
    have a sweep of their own, are none of them, whatever else they can be trained for."""
    from sardonyx.hf.base.tasks import TASKS

    names = [task.name for task in TASKS]
    middle = [name for name in names if name not in (*_FOREMOST, *_LAST, "text-generation")]
    found: dict[str, str] = {}
    lent: dict[str, str] = {}
    for task in (*_FOREMOST, "text-generation", *middle):
        for name in architectures(task):
            (found if _is_own(name, task) else lent).setdefault(name, task)
    found = lent | found
    for task in _LAST:
        for name in architectures(task):
            found.setdefault(name, task)
    return {name: task for name, task in sorted(found.items()) if task != "text-generation"}


def _is_own(name: str, task: str) -> bool:
    """Whether the architecture's class for the task is made for its configuration: ShieldGemma 2
    judges images, and is lent Gemma 3's class for texts, whose weights have other names."""
    import transformers
    from transformers.models.auto import modeling_auto

    from sardonyx.hf.base.tasks import task_named

    mappings = (
        getattr(modeling_auto, auto)._model_mapping._model_mapping
        for auto in task_named(task)[0].auto_classes
    )
    found = next(mapping[name] for mapping in mappings if name in mapping)
    first = found if isinstance(found, str) else found[0]
    kind = config_class(name)
    if first.startswith(kind.__name__.removesuffix("Config")):
        return True
    try:
        return bool(getattr(transformers, first).config_class is kind)
    except (AttributeError, ImportError):
        return True  # needs a package that is not there, which its row tells


def make_checkpoint(name: str, task: str, folder: Path) -> dict[str, Any]:
    """A small model of the architecture, that eager PyTorch can run, in a folder.

    Raises the diagnostic where a model was made and no inputs were found for it; where its own code
    fails, ValueError.
    """
    reasons = []
    without_inputs: ProgramError | None = None
    for profile in PROFILES:
        shutil.rmtree(folder, ignore_errors=True)
        try:
            config = tiny_config(name, profile)
            parameters = _save(config, name, task, folder)
        except Exception as error:
            fault = error.__cause__ if isinstance(error, ProgramError) else None
            reasons.append(f"{profile.name}: {headline(fault or error)}")
            if isinstance(error, ProgramError) and fault is None:
                without_inputs = error
            continue
        return {"profile": profile.name, "parameters": parameters}
    if without_inputs is not None:
        raise without_inputs
    raise ValueError("; ".join(reasons))


def _save(config: Any, name: str, task: str, folder: Path) -> int:
    import torch
    from tests.models.example import unsettle

    from sardonyx.hf.base.parts import fixed_arguments
    from sardonyx.hf.base.tasks import class_for, task_named
    from sardonyx.hf.inputs.input_search import accepted_example

    chosen, _ = task_named(task)
    model_class = class_for(chosen, config)
    assert model_class is not None, f"{config_class(name)} has no class for {task}"
    if not isinstance(config, model_class.config_class):
        # One of the parts of a model that has several.
        own = [part for part in parts_of(config) if type(part) is model_class.config_class]
        config = own[0] if own else config
    if chosen.name == "text-generation" and hasattr(config, "is_decoder"):
        config.is_decoder = not getattr(config, "is_encoder_decoder", False)
    with torch.device("meta"):
        parameters = int(sum(p.numel() for p in model_class(config).parameters()))
    if parameters > _MAX_PARAMETERS:
        raise ValueError(f"{parameters} parameters")
    torch.manual_seed(0)
    model = model_class(config).eval()
    unsettle(model)
    part = _part_that_runs(model)
    own = config if part is model else part.config
    example, inputs, _ = accepted_example(part, own, chosen)
    with torch.no_grad():
        part(**inputs, **example.known(2), **fixed_arguments(part))
    model.save_pretrained(folder)
    return parameters


def _part_that_runs(model: Any) -> Any:
    """The model, or the first in it where it has no forward() of its own."""
    from sardonyx.hf.components.composites import run_as_encoder, runs

    if run_as_encoder(model) or runs(type(model)):
        return model
    parts = (f"{name}_config" in model.config.sub_configs for name, _ in model.named_children())
    return next(part for part, known in zip(model.children(), parts, strict=True) if known)


def headline(error: BaseException) -> str:
    """The kind of an exception and its first line."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300] if lines else ''}"

"""What is exported of models of texts that images or sounds may stand in: their parts with a cache,
all of it in one file without one, or texts alone. A cache that a task has by default is never left
out: SX2009 names the task without one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sardonyx._base.errors import OnnxExporterError, ProgramError, refusal
from sardonyx.hf.base.media import IMAGES, SOUNDS, stands_in_texts
from sardonyx.hf.base.parts import accepted
from sardonyx.hf.base.tasks import of_images
from sardonyx.hf.inputs.input_search import accepted_example, text_stands_alone

from .architecture import hears, looks_at_images
from .multimodal import check_separable

if TYPE_CHECKING:
    import torch

    from sardonyx.hf.base.tasks import ExportChoice

_TEXT_ALONE = (
    "the model also looks at images, and is exported for texts alone; --task image-text-to-text "
    "exports it with images and without a cache"
)
_NO_CACHE = "the model looks at images, and cannot be exported with a cache"
_SOUNDS_WITHOUT_CACHE = "the model listens to sounds, and cannot be exported with a cache"
_DEAF = "the model also listens to sounds, and is exported without them"
_MIXES = (
    "has no method that makes what stands in a text for them, or no token at whose places it does"
)

_Settled = tuple["ExportChoice", tuple[str, ...]]


def settled(
    model: torch.nn.Module, chosen: ExportChoice, *, named: bool, decoder_alone: bool
) -> _Settled:
    """What is exported, with what the report is to tell of it. `named`: whether the user named the
    task; `decoder_alone`: whether the runtime takes a decoder of texts and nothing else. SX2009
    where that would leave out a cache."""
    seen, notes = _with_images(model, chosen, named, decoder_alone)
    if decoder_alone or not hears(model, seen, named):
        return seen, notes
    heard, more = _with_sounds(model, seen, named)
    return heard, (*notes, *more)


def _with_images(
    model: torch.nn.Module, chosen: ExportChoice, named: bool, decoder_alone: bool
) -> _Settled:
    """SX2009, unless a cache was asked for, where the model also looks at images and its decoder
    cannot be had alone."""
    if not named and not decoder_alone:
        # A class of both tasks is published for images.
        both = of_images(chosen, model.config)
        if both is not None and looks_at_images(model, both):
            try:
                check_separable(model, both, IMAGES)
            except ProgramError as error:
                if not text_stands_alone(model):
                    raise without_cache(both, _because(_NO_CACHE, error)) from error
                return chosen, (_because(_TEXT_ALONE, error),)
            return replace(both, media=(IMAGES,)), ()
    if not looks_at_images(model, chosen):
        return chosen, ()
    if not named:
        try:
            check_separable(model, chosen, IMAGES)
        except ProgramError as error:
            raise without_cache(chosen, _because(_NO_CACHE, error)) from error
    return replace(chosen, media=(IMAGES,)), ()


def _with_sounds(model: torch.nn.Module, chosen: ExportChoice, named: bool) -> _Settled:
    """Beside images, sounds are left out where they cannot be had as they can, and of one file."""
    if not chosen.with_past and IMAGES.is_in(accepted(model)):
        return chosen, (f"{_DEAF}: one file takes images and texts",)
    if not stands_in_texts(SOUNDS, model):
        why = f"{type(model).__name__} {_MIXES}"
        if _needs_sounds(model, chosen):
            if chosen.with_past and not named:
                raise without_cache(chosen, f"{_SOUNDS_WITHOUT_CACHE}: {why}")
            return replace(chosen, with_past=False, media=(SOUNDS,)), ()
        return chosen, (f"{_DEAF}: {why}",)
    try:
        accepted_example(model, model.config, chosen.task, SOUNDS)
    except ProgramError as error:
        return chosen, (_because(_DEAF, error),)
    if chosen.with_past:
        try:
            check_separable(model, chosen, SOUNDS)
        except ProgramError as error:
            if chosen.media or named:
                return chosen, (_because(_DEAF, error),)
            raise without_cache(chosen, _because(_SOUNDS_WITHOUT_CACHE, error)) from error
    return replace(chosen, media=(*chosen.media, SOUNDS)), ()


def _needs_sounds(model: torch.nn.Module, chosen: ExportChoice) -> bool:
    """Whether the model takes no text alone, which is tried first."""
    try:
        example, _, _ = accepted_example(model, model.config, chosen.task)
    except ProgramError:
        return False
    return SOUNDS.is_in(example.dims)


def without_cache(chosen: ExportChoice, why: str) -> OnnxExporterError:
    """SX2009 for a task that is chosen by default, with the way to export it without a cache."""
    return refusal(
        "SX2009",
        why,
        f"--task {chosen.task.name} exports it without a cache, so that each step takes the whole "
        "text",
    )


def _because(what: str, error: ProgramError) -> str:
    return f"{what}: {error.diagnostics[0].message}"

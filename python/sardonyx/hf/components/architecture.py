"""Of which parts a model is exported."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sardonyx._base.errors import refusal
from sardonyx.hf.base.example import BATCH, LENGTH
from sardonyx.hf.base.media import SOUNDS
from sardonyx.hf.base.parts import ForwardWrapper, Part, accepted, named_outputs, without_padding
from sardonyx.hf.inputs.input_search import accepted_example

from . import encoder_decoders, multimodal
from .composites import runs
from .decoders import decoder_part
from .sentence_embeddings import SentenceEmbedder, SentencePooling
from .static_caches import StaticCache

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

    from sardonyx.hf.base.tasks import ExportChoice, Task

# How the inputs end that say what is padding.
_MASK = "mask"


def parts_of(
    model: torch.nn.Module,
    chosen: ExportChoice,
    sentences: SentencePooling | None = None,
    paired: bool = False,
    static: StaticCache | None = None,
) -> Iterator[Part]:
    """The parts, as optimum has them; `sentences` is how embeddings of sentences are made,
    `paired` whether the runtime is onnxruntime-genai, which keeps caches in pairs, and `static` the
    cache of a decoder that is to have one size. SX2012 for that of other models."""
    config = model.config
    encodes = bool(getattr(config, "is_encoder_decoder", False))
    if chosen.media and chosen.with_past:
        yield from multimodal.parts(model, config, chosen)
    elif sentences is not None:
        yield sentence_part(model, config, chosen.task, sentences)
    elif chosen.with_past and not encodes:
        yield decoder_part(model, config, paired, static=static)
    elif chosen.task.generates and encodes:
        yield from encoder_decoders.parts(model, config, chosen)
    else:
        yield whole_part(model, config, chosen)


def looks_at_images(model: torch.nn.Module, chosen: ExportChoice) -> bool:
    """Whether it is a decoder with a cache that takes images beside its first tokens."""
    encodes = bool(getattr(model.config, "is_encoder_decoder", False))
    asked = chosen.name == "image-text-to-text-with-past"
    return asked and not encodes and "pixel_values" in accepted(model)


def hears(model: torch.nn.Module, chosen: ExportChoice, named: bool) -> bool:
    """Whether it goes on with texts, and also takes sounds; where the task was `named`, that may be
    one of texts alone."""
    encodes = bool(getattr(model.config, "is_encoder_decoder", False))
    asked = chosen.task.generates and not (named and chosen.task.name == "text-generation")
    taken = accepted(model)
    return asked and not encodes and "input_ids" in taken and SOUNDS.is_in(taken)


def whole_part(model: torch.nn.Module, config: object, chosen: ExportChoice) -> Part:
    """The model in one file. SX2007 where no example inputs are found for it."""
    task = chosen.task
    example, inputs, result = accepted_example(model, config, task, chosen.in_one)
    found = named_outputs(result)
    # Those of the task are a forward()'s.
    of_task = task.outputs if runs(type(model)) else ()
    outputs = tuple(name for name in of_task if name in found) or tuple(found)
    if not outputs:
        raise refusal("SX2007", f"{type(model).__name__} returns no tensors", "")
    known = example.known(1)
    module = ForwardWrapper(model, outputs, known)
    dims = {name: example.dims.get(name, {}) for name in inputs}
    within = {name: {a: d for a, d in axes.items() if d != BATCH} for name, axes in dims.items()}
    row = example.make(1, example.lengths[0])
    one = Part("model", module, row, within, outputs, known=known)
    if known:
        return one
    grows = frozenset((LENGTH,)) if task.generates else frozenset()
    if example.one_row:
        return replace(one, must_vary=grows, is_one_row=True)
    masks = {name for name in row if name.endswith(_MASK)}
    unpadded = without_padding(one, masks, partial(ForwardWrapper, model, outputs))
    return Part(
        "model", module, inputs, dims, outputs, one_row=one, unpadded=unpadded, must_vary=grows
    )


def sentence_part(
    model: torch.nn.Module, config: object, task: Task, sentences: SentencePooling
) -> Part:
    """A text model with embeddings of sentences beside those of their tokens."""
    example, inputs, _ = accepted_example(model, config, task)
    outputs = ("token_embeddings", "sentence_embedding")
    dims = {name: example.dims.get(name, {}) for name in inputs}
    return Part("model", SentenceEmbedder(model, sentences), inputs, dims, outputs)

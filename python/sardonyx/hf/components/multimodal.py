"""Models of texts and images or sounds in several files, as transformers.js has them: what makes
features of images, what makes them of sounds, what makes embeddings of tokens, and the decoder with
its cache, which takes embeddings in which the features stand where the text has its tokens for
them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from sardonyx._base.errors import refusal
from sardonyx._torch_private import pytree
from sardonyx.hf.base.constant_inputs import with_known
from sardonyx.hf.base.example import BATCH, LENGTH, Dims, Example, Tensors, token_ids
from sardonyx.hf.base.media import Medium
from sardonyx.hf.base.parts import EMBEDDINGS, Part, fixed_arguments, without_padding
from sardonyx.hf.inputs.input_search import accepted_example, features_of
from sardonyx.hf.inputs.meta_execution import probe

from .decoders import decoder_part

if TYPE_CHECKING:
    from sardonyx.hf.base.tasks import ExportChoice

TOKENS, DECODER = "embed_tokens", "decoder_model_merged"
# What a decoder of texts is given by the model around it, beside its cache.
_OF_TEXT = {EMBEDDINGS: 3, "attention_mask": 2, "position_ids": None, "cache_position": 1}


class MediumEncoder(torch.nn.Module):
    """From images or sounds to what stands for them in a text, [tokens of all of them, width]."""

    def __init__(self, model: torch.nn.Module, medium: Medium, known: Tensors) -> None:
        super().__init__()
        self.model = model
        self._medium = medium
        self._known = known

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The features."""
        features: Any = self._medium.maker(self.model)
        return (features_of(self.model, with_known(features, self._known, {})(**inputs)),)


class Embedding(torch.nn.Module):
    """From tokens to their embeddings [batch, length, width]."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The embeddings."""
        model: Any = self.model
        return (model.get_input_embeddings()(inputs["input_ids"]),)


def parts(model: torch.nn.Module, config: Any, chosen: ExportChoice) -> Iterator[Part]:
    """The files. SX2009 where the decoder needs more than embeddings, a mask and positions."""
    directions = 0
    for medium in chosen.media:
        example, inputs, _ = accepted_example(model, config, chosen.task, medium)
        check_separable(model, chosen, medium)
        one = _encoder(model, medium, example, 1)
        if one.known:
            yield one
        else:
            several = _encoder(model, medium, example, 2)
            masks = set(one.inputs) - set(medium.inputs)
            unpadded = without_padding(one, masks, partial(MediumEncoder, model, medium))
            yield replace(several, one_row=one, unpadded=unpadded)
        positions = inputs.get("position_ids")
        if positions is not None and positions.dim() == 3:
            directions = positions.shape[0]
    ids = token_ids(config, 2, 5)
    rows = {0: BATCH, 1: LENGTH}
    yield Part(TOKENS, Embedding(model), {"input_ids": ids}, {"input_ids": rows}, (EMBEDDINGS,))

    def change(inputs: Tensors, dims: Dims) -> tuple[Tensors, Dims]:
        return _of_embeddings(model, inputs, dims, directions)

    yield decoder_part(model, config, name=DECODER, change=change)


def _encoder(model: torch.nn.Module, medium: Medium, example: Example, batch: int) -> Part:
    """What makes features of images or sounds, of any number of them where the batch is not 1."""
    known = medium.inputs_of(model, example.known(batch))
    inputs = medium.inputs_of(model, example.make(batch, example.lengths[0]))
    dims = {
        name: {
            axis: size
            for axis, size in example.dims.get(name, {}).items()
            if batch > 1 or size != BATCH
        }
        for name in inputs
    }
    module = MediumEncoder(model, medium, known)
    return Part(medium.part, module, inputs, dims, (medium.features,), known=known)


def _of_embeddings(
    model: torch.nn.Module, inputs: Tensors, dims: Dims, directions: int
) -> tuple[Tensors, Dims]:
    """The inputs of a decoder with embeddings in place of tokens, and with positions in several
    directions where the model has them."""
    ids = inputs["input_ids"]
    width = probe(model, lambda ids: Embedding(model)({"input_ids": ids}), ids=ids)[0].shape[-1]
    embeddings = torch.zeros(*ids.shape, width)
    first = {EMBEDDINGS: embeddings}
    inputs = first | {name: value for name, value in inputs.items() if name != "input_ids"}
    dims = {EMBEDDINGS: dims["input_ids"]} | {k: v for k, v in dims.items() if k != "input_ids"}
    if directions:
        inputs["position_ids"] = inputs["position_ids"].expand(directions, -1, -1).contiguous()
        dims["position_ids"] = {a + 1: size for a, size in dims["position_ids"].items()}
    return inputs, dims


def check_separable(model: torch.nn.Module, chosen: ExportChoice, medium: Medium) -> None:
    """SX2009 where the decoder is given anything that a text without images or sounds has not: what
    these add to layers within, masks of theirs, tokens."""
    example, inputs, _ = accepted_example(model, model.config, chosen.task, medium)
    find: Any = model.get_decoder
    decoder = find()
    given: dict[str, Any] = {}

    def note(_: Any, args: Any, kwargs: dict[str, Any]) -> None:
        given.update(kwargs)
        given.update({f"argument {i}": each for i, each in enumerate(args)})

    if decoder is not model:
        hook = decoder.register_forward_pre_hook(note, with_kwargs=True)
        try:
            probe(model, with_known(model, example.known(2), fixed_arguments(model)), **inputs)
        finally:
            hook.remove()
    others = [name for name, value in given.items() if not _is_of_text(name, value)]
    if others or EMBEDDINGS not in given:
        what = ", ".join(others) or "no embeddings"
        raise refusal(
            "SX2009",
            f"{type(model).__name__} gives its decoder {what}, so that the decoder alone cannot be "
            "exported with its cache",
            "leave `-with-past` out of the task: one file without a cache",
        )


def _is_of_text(name: str, value: Any) -> bool:
    tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    if not tensors:
        return True
    rank = _OF_TEXT.get(name, 0)
    return isinstance(value, torch.Tensor) and rank in (None, value.dim())

"""Models of an encoder and a decoder, in four files as optimum has them: the encoder, the decoder
for the first step, which also gives what it keeps of the encoder, the one for all others, and both
decoders as the branches of one model, which runtimes take that load one file for all steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from sardonyx import _native
from sardonyx._base.errors import refusal
from sardonyx._transformers_private.caches import (
    cache_parameter,
    has_windows,
    new_cache_of_both,
    returned_cache,
)
from sardonyx._transformers_private.outputs import encoder_output
from sardonyx.hf.base.caches import PAST, PAST_LENGTH, PRESENT, CachedTensor, CacheLayout, layout_of
from sardonyx.hf.base.example import BATCH, Dims, Example, Tensors, codes_of, token_ids
from sardonyx.hf.base.media import IMAGES
from sardonyx.hf.base.parts import Part, accepted, named_outputs
from sardonyx.hf.inputs.input_search import accepted_example
from sardonyx.hf.inputs.meta_execution import probe

if TYPE_CHECKING:
    from sardonyx._model.program import ONNXProgram
    from sardonyx.hf.base.tasks import ExportChoice

_STEPS = "decoder_sequence_length"
_ENCODED = "encoder_sequence_length"
STATES = "encoder_hidden_states"
MASK = "encoder_attention_mask"
ENCODER, FIRST, LATER = "encoder_model", "decoder_model", "decoder_with_past_model"
MERGED, USES_CACHE = "decoder_model_merged", "use_cache_branch"
# The sizes of the runs that show what a cache holds: rows, the encoder's input, and tokens.
_RUNS = ((2, 0, 5), (3, 1, 7))
_LENGTH_OF_KEYS = 2  # the axis of [batch, heads, length, width]
_DIMS_OF_STATES = 3
_OF_TEXT = frozenset(("input_ids", "attention_mask", "token_type_ids"))
_IDS = "decoder_input_ids"
OF_DECODER = (_IDS, "decoder_attention_mask", "decoder_inputs_embeds")


class Encoder(torch.nn.Module):
    """The encoder: what it is given to its last hidden state, and to the mask of it where it makes
    one that the decoder goes by."""

    def __init__(self, model: torch.nn.Module, masks: bool = False) -> None:
        super().__init__()
        self.model = model
        self._masks = masks

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The last hidden state [batch, length, width], and maybe its mask [batch, length]."""
        result = encoder_of(self.model)(**inputs)
        states = _hidden_state(result)
        return (states, result.attention_mask) if self._masks else (states,)


class MixedEncoder(torch.nn.Module):
    """The encoder of a model that puts other things between the tokens before it encodes them, and
    so all of the model that comes before its decoder."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The last hidden state [batch, length, width]."""
        ids = torch.zeros(next(iter(inputs.values())).shape[0], 1, dtype=torch.int64)
        result = self.model(**inputs, decoder_input_ids=ids, use_cache=False)
        return (result.encoder_last_hidden_state,)


class FirstStep(torch.nn.Module):
    """The decoder without a past: logits, and the cache, which is the model's own where it has no
    windows."""

    def __init__(
        self, model: torch.nn.Module, layout: CacheLayout | None, own_cache: bool = True
    ) -> None:
        super().__init__()
        self.model = model
        self._layout = layout
        self._own_cache = own_cache

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The logits, then the cache's tensors."""
        if self._layout is None:
            return (self.model(**_decoder_arguments(inputs), use_cache=False).logits,)
        result, cache = run_with_cache(self.model, inputs, self._own_cache)
        return (result.logits, *self._layout.tensors_of(cache))


class LaterStep(torch.nn.Module):
    """The decoder with a past; what it keeps of the encoder stays as it is, and is no output."""

    def __init__(self, model: torch.nn.Module, layout: CacheLayout) -> None:
        super().__init__()
        self.model = model
        self._layout = layout

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The logits, then what the cache holds of the decoder."""
        past = [inputs[each.past] for each in self._layout.tensors]
        length = next(
            value.shape[2]
            for value, each in zip(past, self._layout.tensors, strict=True)
            if each.shape[2] == PAST_LENGTH
        )
        cache = self._layout.cache_of(past, length)
        given = _decoder_arguments(inputs)
        # Where the cross attention has its keys, the encoder's states are not looked at.
        argument = _cache_parameter(self.model)
        result = self.model(**given, **{argument: cache}, use_cache=True)
        after = self._layout.tensors_of(returned_cache(result, argument, cache))
        kept = [
            value
            for value, each in zip(after, self._layout.tensors, strict=True)
            if not of_encoder(each)
        ]
        return (result.logits, *kept)


def run_with_cache(model: Any, inputs: Tensors, own_cache: bool) -> tuple[Any, Any]:
    """What the first step of the decoder gives, and its cache."""
    argument = _cache_parameter(model)
    cache = None if own_cache else new_cache_of_both(model.config)
    past = {} if own_cache else {argument: cache}
    result = model(**_decoder_arguments(inputs), **past, use_cache=True)
    return result, returned_cache(result, argument, cache)


def _cache_parameter(model: Any) -> str:
    """SX2009 where forward() takes no cache."""
    found = cache_parameter(model)
    if found is None:
        raise refusal(
            "SX2009", f"{type(model).__name__} takes no cache", "leave `-with-past` out of the task"
        )
    return found


def of_encoder(cached: CachedTensor) -> bool:
    """Whether it holds what cross attention keeps of the encoder."""
    return ".encoder." in cached.name


def _decoder_arguments(inputs: Tensors) -> dict[str, Any]:
    given: dict[str, Any] = {"decoder_input_ids": inputs["input_ids"]}
    encoded = encoder_output(inputs.get(STATES))
    # Some decoders ask the encoder's outputs for the mask, which is as long as these are.
    encoded.attention_mask = inputs.get(MASK)
    given["encoder_outputs"] = encoded
    if MASK in inputs:
        given["attention_mask"] = inputs[MASK]
    return given


def encoder_of(model: torch.nn.Module) -> torch.nn.Module:
    """The encoder, as transformers tells."""
    find: Any = model.get_encoder
    found: torch.nn.Module = find()
    return found


def _hidden_state(result: Any) -> torch.Tensor:
    """[batch, length, width]: the last hidden state, or what was made of it where it is a map."""
    found = named_outputs(result)
    states = found.get("last_hidden_state", next(iter(found.values())))
    rows = found.get("pooler_output", states)
    return rows if states.dim() > rows.dim() == _DIMS_OF_STATES else states


def merged(programs: Mapping[str, ONNXProgram]) -> Any | None:
    """The decoders of both steps as one model, whose first step gives nothing to `past_key_values`
    that it looks at; None for models without a cache. What is kept of the encoder goes through."""
    first, later = programs.get(FIRST), programs.get(LATER)
    if first is None or later is None:
        return None
    there = {name for name, _, _ in later._native.outputs}
    kept = {
        name: name.replace(PRESENT, PAST, 1)
        for name, _, _ in first._native.outputs
        if name not in there
    }
    # Runtimes give the first step keys of no length; an encoder may make them of one length alone.
    return _native.in_branches(later._native, first._native, USES_CACHE, kept, _LENGTH_OF_KEYS)


def reads_blocks(programs: Mapping[str, ONNXProgram]) -> bool:
    """Whether nodes in the decoders dequantize block-wise quantized weights."""
    nodes = _native.nodes(programs[LATER]._native)
    return any(operator == "DequantizeLinear" for _, _, operator, *_ in nodes)


@dataclass(frozen=True)
class _Sides:
    """What the encoder takes and gives, without data; `masks`: whether the mask of what it gives
    is another than that of what it takes, and is given, too; `mixed`: whether the model puts other
    things between the tokens before; `codes`: how many each frame of the decoder has, 0 for tokens.
    """

    example: Example
    inputs: Tensors
    states: torch.Tensor
    mask: torch.Tensor | None
    masks: bool
    mixed: bool = False
    codes: int = 0

    def encoder(self, model: torch.nn.Module) -> torch.nn.Module:
        """What becomes a model of its own."""
        return MixedEncoder(model) if self.mixed else Encoder(model, self.masks)


def parts(model: torch.nn.Module, config: Any, chosen: ExportChoice) -> Iterator[Part]:
    """The encoder and the decoders. SX2007 where no example inputs are found."""
    sides = _sides(model, config, chosen)
    dims: Dims = {name: sides.example.dims.get(name, {}) for name in sides.inputs}
    dims = {
        name: {axis: _of_encoder(size) for axis, size in axes.items()}
        for name, axes in dims.items()
    }
    outputs = ("last_hidden_state", MASK) if sides.masks else ("last_hidden_state",)
    yield Part(ENCODER, sides.encoder(model), sides.inputs, dims, outputs)
    layout, own_cache = _layout(model, config, sides) if chosen.with_past else (None, True)
    inputs, decoder_dims = _decoder_inputs(config, sides, dims)
    presents = tuple(each.present for each in layout.tensors) if layout else ()
    first = FirstStep(model, layout, own_cache)
    yield Part(FIRST, first, inputs, decoder_dims, ("logits", *presents))
    if layout is not None:
        yield _later(model, layout, inputs, decoder_dims)


def _later(model: torch.nn.Module, layout: CacheLayout, inputs: Tensors, dims: Dims) -> Part:
    inputs, dims = dict(inputs), dict(dims)
    sizes = {BATCH: 2, PAST_LENGTH: 4, _ENCODED: inputs[STATES].shape[1]}
    inputs["input_ids"] = inputs["input_ids"][:, :1].contiguous()
    dims["input_ids"] = {0: BATCH}
    for each in sorted(layout.tensors, key=_layer):
        inputs[each.past], dims[each.past] = each.example(sizes), each.dims
    presents = tuple(each.present for each in layout.tensors if not of_encoder(each))
    return Part(LATER, LaterStep(model, layout), inputs, dims, ("logits", *presents))


def _layer(cached: CachedTensor) -> int:
    """optimum's classes feed caches in the order of the inputs, all of a layer together."""
    return int(cached.name.partition(".")[0])


def _of_encoder(size: str) -> str:
    return _ENCODED if size == "sequence_length" else size


def _sides(model: torch.nn.Module, config: Any, chosen: ExportChoice) -> _Sides:
    example, inputs, result = accepted_example(model, config, chosen.task)
    codes = codes_of(inputs[_IDS]) if _IDS in inputs else 0
    inputs = {name: value for name, value in inputs.items() if name not in OF_DECODER}
    taken = accepted(encoder_of(model))
    # Tokens beside what an encoder looks at are those of the decoder.
    left = set(inputs) - taken - (_OF_TEXT if IMAGES.is_in(taken & set(inputs)) else set())
    mixed = bool(left) and "encoder_last_hidden_state" in named_outputs(result)
    if not mixed:
        inputs = {name: value for name, value in inputs.items() if name in taken}
    states, own = _encoded(model, inputs, mixed)
    if BATCH not in example.dims[next(iter(inputs))].values():
        raise refusal("SX2007", "the encoder's first input has no batch")
    given = inputs.get("attention_mask")
    if given is not None and given.shape == states.shape[:2]:
        own, masks = torch.ones_like(given), False
    else:
        masks = own is not None
    return _Sides(example, inputs, states, own, masks, mixed, codes)


def _encoded(
    model: torch.nn.Module, inputs: Tensors, mixed: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What the encoder makes of the inputs, zeros, and the mask that it gives for that, ones."""

    def of_all(**given: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = MixedEncoder(model)(given)[0]
        return states

    made = probe(model, of_all if mixed else encoder_of(model), **inputs)
    states = _hidden_state(made)
    mask = getattr(made, "attention_mask", None)
    if not isinstance(mask, torch.Tensor) or mask.shape != states.shape[:2]:
        mask = None
    return (
        torch.zeros(tuple(states.shape), dtype=states.dtype),
        None if mask is None else torch.ones(tuple(mask.shape), dtype=mask.dtype),
    )


def _decoder_inputs(config: Any, sides: _Sides, dims: Dims) -> tuple[Tensors, Dims]:
    length = {1: _ENCODED} if _varies(dims) else {}
    inputs: Tensors = {}
    axes: Dims = {}
    if sides.mask is not None:
        inputs[MASK] = sides.mask
        axes[MASK] = {0: BATCH, **length}
    inputs["input_ids"] = token_ids(config, 2, 4, codes=sides.codes)
    axes["input_ids"] = {0: BATCH, 1: _STEPS}
    inputs[STATES] = sides.states
    axes[STATES] = {0: BATCH, **length}
    return inputs, axes


def _varies(dims: Dims) -> bool:
    return any(size != BATCH for axes in dims.values() for size in axes.values())


def _layout(model: torch.nn.Module, config: Any, sides: _Sides) -> tuple[CacheLayout, bool]:
    """The layout of the cache, and whether that is the model's own."""
    caches, sizes = [], []
    own_cache = True
    for batch, which, tokens in _RUNS:
        made = sides.example.make(batch, sides.example.lengths[which])
        states, _ = _encoded(model, {name: made[name] for name in sides.inputs}, sides.mixed)
        ids = token_ids(config, batch, tokens, codes=sides.codes)
        inputs: Tensors = {"input_ids": ids, STATES: states}
        if sides.mask is not None:
            inputs[MASK] = torch.ones(states.shape[:2], dtype=sides.mask.dtype)

        cache = _cache_of(model, inputs, own_cache)
        if has_windows(cache):
            own_cache = False
            cache = _cache_of(model, inputs, own_cache)
        caches.append(cache)
        sizes.append({BATCH: batch, PAST_LENGTH: tokens, _ENCODED: states.shape[1]})
    return layout_of(caches, sizes), own_cache


def _cache_of(model: torch.nn.Module, inputs: Tensors, own_cache: bool) -> Any:
    def call(**given: torch.Tensor) -> Any:
        return run_with_cache(model, given, own_cache)[1]

    cache = probe(model, call, **inputs)
    if cache is None:
        raise refusal(
            "SX2009",
            f"{type(model).__name__} does not return its cache: its modules keep it",
            "leave `-with-past` out of the task",
        )
    return cache

"""Which of the example inputs a model takes."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from sardonyx._base.errors import refusal
from sardonyx.hf.base.constant_inputs import with_known
from sardonyx.hf.base.example import BATCH, LENGTH, Dims, Example, Tensors, token_ids
from sardonyx.hf.base.media import IMAGES, MEDIA, Medium
from sardonyx.hf.base.parts import fixed_arguments

from .docstring_inputs import asked_for, documented_size
from .examples import examples
from .meta_execution import probe
from .shape_repair import corrected

if TYPE_CHECKING:
    from sardonyx.hf.base.tasks import Task

# Which tokens are images, and which are text.
_KINDS_OF_TOKENS = "mm_token_type_ids"
_MAX_ASKED = 8
# What models of transformers call the layer between an encoder of images and a text.
_PROJECTOR = "multi_modal_projector"
# The tokens, and what belongs to each: they are as many more as images or sounds have places.
_LENGTHENED = ("input_ids", "attention_mask", "token_type_ids")


def accepted_example(
    model: torch.nn.Module, config: Any, task: Task | None = None, medium: Medium | None = None
) -> tuple[Example, Tensors, Any]:
    """The first example that the model takes, its inputs, and what comes of them; of those of a
    text in which a `medium` stands, where there is to be one. Where a model takes no two rows, that
    is one of one row.

    SX2007 says what each attempt ended in. Its cause is the error of a model that fails by its own
    code.
    """
    attempts = _Attempts(model, config)
    for attempts.one_row in (False, True):
        found = attempts.first(task, medium)
        if found is not None:
            return found
    kind = type(model).__name__
    text, help_text = (
        (
            f"no example inputs were found that {kind} takes",
            "call sardonyx.export with the model and inputs of your own",
        )
        if attempts.fault is None
        else (
            f"{kind} can't be run in PyTorch: its own code reads an attribute that isn't there",
            "install a release of its package without this fault",
        )
    )
    reasons = "".join(f"\n    {reason}" for reason in dict.fromkeys(attempts.reasons))
    raise refusal("SX2007", text + reasons, help_text) from attempts.fault


class _Attempts:
    """Examples, each given to the model.

    Attributes:
        one_row: whether they have one row, and not two.
        reasons: what those ended in that the model does not take.
        fault: an error of the model's own code, which no other inputs avoid.
    """

    def __init__(self, model: torch.nn.Module, config: Any) -> None:
        self._model = model
        self._config = config
        # Examples with what the model asks for by name.
        self._asking: list[Example] = []
        self.one_row = False
        self.reasons: list[str] = []
        self.fault: Exception | None = None

    def first(
        self, task: Task | None, medium: Medium | None
    ) -> tuple[Example, Tensors, Any] | None:
        """The first that the model takes; None where it takes none."""
        self._asking.clear()
        for made in examples(self._model, self._config, task):
            if medium is not None and not ("input_ids" in made.dims and medium.is_in(made.dims)):
                continue
            if (found := self._accepted(made)) is not None:
                return found
        # What examples have is surer than what documentation says of what an error asks for.
        for made in itertools.islice(self._asking, _MAX_ASKED):
            if (found := self._accepted(made)) is not None:
                return found
        return None

    def _accepted(self, made: Example) -> tuple[Example, Tensors, Any] | None:
        """The example, or what errors of PyTorch make of it, with its inputs and what comes of
        them; None where the model takes none of these."""
        model = self._model
        trying: Example | None = made
        while trying is not None:
            example = _with_places(model, self._config, trying)
            if self.one_row:
                example = example.of_one_row()
            inputs: Tensors = {}
            try:
                inputs = example.make(2, example.lengths[0])
                call = with_known(model, example.known(2), fixed_arguments(model))
                return example, inputs, probe(model, call, **inputs)
            except Exception as error:
                first = (str(error).splitlines() or [""])[0]
                self.reasons.append(f"{', '.join(inputs)}: {type(error).__name__}: {first[:200]}")
                if self.fault is None and _is_own_fault(error, model):
                    self.fault = error
                if (asked := asked_for(trying, error, model, self._config)) is not None:
                    self._asking.append(asked)
                trying = corrected(made, error) if trying is made else None
        return None


def _is_own_fault(error: Exception, model: torch.nn.Module) -> bool:
    """Whether the model's code reads an attribute that an object of its own package lacks. Inputs
    are tensors, or None where they are missing."""
    if not isinstance(error, AttributeError) or isinstance(error.obj, torch.nn.Module):
        return False
    package = type(model).__module__.partition(".")[0]
    return type(error.obj).__module__.partition(".")[0] == package


def text_stands_alone(model: torch.nn.Module) -> bool:
    """Whether a text without images is whole to the model: others put images before it themselves,
    and go by them in what they keep of it."""
    if "pixel_values" not in inspect.signature(model.forward).parameters:
        return True
    return IMAGES.maker(model) is not None or IMAGES.token(model.config) is not None


def _with_places(model: torch.nn.Module, config: Any, example: Example) -> Example:
    """Where images or sounds stand in a text, with as many tokens for each as the model makes of
    it."""
    found = _medium_among(model, config, example)
    if found is None:
        return example
    medium, token = found
    many = None
    if medium.maker(model) is None:
        many = documented_size(model, config, medium.embeddings, 1)
    taken = inspect.signature(model.forward).parameters
    kinds = medium is IMAGES and _KINDS_OF_TOKENS in taken
    positions = _positions_of(model)

    def make(batch: int, length: int) -> Tensors:
        made = example.make(batch, length)
        known = example.known(batch)
        count = many or features(medium, model, made, known).shape[0] // batch
        if token is None:
            placed = token_ids(config, batch, count)
        else:
            placed = torch.full((batch, count), token)
        stands = torch.cat([torch.ones_like(placed), torch.zeros_like(made["input_ids"])], 1)
        made["input_ids"] = torch.cat([placed, made["input_ids"]], 1)
        for name in _LENGTHENED[1:]:
            if name in made:
                made[name] = torch.cat([torch.ones_like(placed), made[name]], 1)
        if medium is IMAGES and (kinds or positions is not None):
            made[_KINDS_OF_TOKENS] = stands
        if token is None:
            made[medium.places] = stands
        if positions is not None:
            made["position_ids"] = positions(made | known)
            # It only tells where the images stand, which the positions tell, too.
            made.pop(_KINDS_OF_TOKENS, None)
        return made

    dims: Dims = {
        name: axes if name in _LENGTHENED else _of_text_alone(axes)
        for name, axes in example.dims.items()
    }
    if positions is not None:
        dims["position_ids"] = {1: BATCH, 2: LENGTH}
    elif kinds:
        dims[_KINDS_OF_TOKENS] = {0: BATCH, 1: LENGTH}
    if token is None:
        dims[medium.places] = {0: BATCH, 1: LENGTH}
    return Example(make, dims, example.lengths, example.known)


def _of_text_alone(axes: dict[int, str]) -> dict[int, str]:
    """What has no places for images or sounds (the tokens of a second encoder) has a length of its
    own."""
    return {axis: "text_length" if size == LENGTH else size for axis, size in axes.items()}


def _medium_among(
    model: torch.nn.Module, config: Any, example: Example
) -> tuple[Medium, int | None] | None:
    """The medium whose placeholder tokens are in the example's text, and that token. The token is
    None where the configuration has none and an input of the model marks the places."""
    taken = inspect.signature(model.forward).parameters
    if "input_ids" in example.dims:
        for medium in MEDIA:
            token = medium.token(config)
            made = token is not None and medium.maker(model) is not None
            if medium.is_in(example.dims) and (made or medium.places in taken):
                return medium, token
    return None


def features(
    medium: Medium, model: torch.nn.Module, inputs: Tensors, known: Tensors
) -> torch.Tensor:
    """What stands in the text for it, [tokens, width], without data."""
    maker = medium.maker(model)
    assert maker is not None

    def call(**given: torch.Tensor) -> torch.Tensor:
        return features_of(model, with_known(maker, known, {})(**given))

    return probe(model, call, **medium.inputs_of(model, inputs))


def features_of(model: torch.nn.Module, found: Any) -> torch.Tensor:
    """The rows [tokens, width] in what such a method returns: a tensor, one for each image or
    sound, or either in an output with other things. Some models project them only where they put
    them into the text, and some have nothing else than their last states."""
    pooled = getattr(found, "pooler_output", found)
    if pooled is not None:
        return _rows(pooled)
    if (states := found.last_hidden_state) is None:
        # Features that are added to layers of the text are as long as its placeholder tokens.
        return _rows(found.deepstack_features[0][1])
    rows = _rows(states)
    project: Any = getattr(model, _PROJECTOR, None)
    return rows if project is None else project(rows)


def _rows(found: Any) -> torch.Tensor:
    several = found if isinstance(found, (list, tuple)) else [found]
    return torch.cat([each.reshape(-1, each.shape[-1]) for each in several])


def _positions_of(model: torch.nn.Module) -> Callable[[Tensors], torch.Tensor] | None:
    """What makes positions of tokens in several directions, for models that have them: they go
    through the text to do it, which no captured program can."""
    base = getattr(model, "model", model)
    find: Any = getattr(model, "get_rope_index", None) or getattr(base, "get_rope_index", None)
    if find is None or "position_ids" not in inspect.signature(model.forward).parameters:
        return None
    taken = inspect.signature(find).parameters

    def positions(inputs: Tensors) -> torch.Tensor:
        found: torch.Tensor = find(**{k: v for k, v in inputs.items() if k in taken})[0]
        return found

    return positions

"""What a text may have places for, besides words: images and sounds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .settings import setting

_VOCABULARY = "vocabulary_map"


@dataclass(frozen=True)
class Medium:
    """A kind of input beside text: images or sounds.

    Attributes:
        methods: of the model, the first that it has makes the features that stand for it in a text.
        part: the file that does, as transformers.js has it.
        features: its output.
        inputs: what the model takes for it; one of these is always among its inputs.
        tokens: what settings call the token at whose places the features stand.
        word: what it is called in the vocabulary, which some settings hold instead.
        embeddings: an input for its features, where the model takes them ready made.
        places: an input that tells where in the text they stand, where no token does.
    """

    methods: tuple[str, ...]
    part: str
    features: str
    inputs: tuple[str, ...]
    tokens: tuple[str, ...]
    word: str
    embeddings: str = ""
    places: str = ""

    def is_in(self, names: Iterable[str]) -> bool:
        """Whether it is among inputs of these names."""
        return not set(self.inputs).isdisjoint(names)

    def token(self, config: Any) -> int | None:
        """The token that stands for it, or a part of it, in a text."""
        names = (*self.tokens, _VOCABULARY)
        return self.token_of({name: setting(config, name) for name in names})

    def token_of(self, settings: Mapping[str, Any]) -> int | None:
        """The same of what a configuration's file holds at its top."""
        words = settings.get(_VOCABULARY)
        found = [words.get(self.word) if isinstance(words, dict) else None]
        found += [settings.get(name) for name in self.tokens]
        return next((token for token in found if isinstance(token, int)), None)

    def maker(self, model: Any) -> Callable[..., Any] | None:
        """What makes its features, of the model or of the one in it; None where nothing does."""
        return next(self._makers(model), None)

    def inputs_of(self, model: Any, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Those of `inputs` that its features are made of."""
        # A method that hands everything on to that of the model within does not say what it takes.
        taken = {
            name for made in self._makers(model) for name in inspect.signature(made).parameters
        }
        # What also hangs on the text is none of it.
        taken.discard("input_ids")
        return {name: value for name, value in inputs.items() if name in taken}

    def _makers(self, model: Any) -> Iterator[Callable[..., Any]]:
        for method in self.methods:
            for owner in (model, getattr(model, "model", None)):
                if (found := getattr(owner, method, None)) is not None:
                    yield found


IMAGES = Medium(
    ("get_image_features", "get_video_features"),
    "vision_encoder",
    "image_features",
    ("pixel_values",),
    ("image_token_id", "image_token_index", "video_token_id"),
    "<image>",
    "image_embeds",
    "image_embeds_position_mask",
)
SOUNDS = Medium(
    ("get_audio_features",),
    "audio_encoder",
    "audio_features",
    ("input_features", "input_values", "audio_input_ids"),
    ("audio_token_id", "audio_token_index"),
    "<audio>",
)
MEDIA = (IMAGES, SOUNDS)


def stands_in_texts(medium: Medium, model: torch.nn.Module) -> bool:
    """Whether the model puts its features at the places of a token."""
    taken = inspect.signature(model.forward).parameters
    return (
        medium.is_in(taken)
        and medium.maker(model) is not None
        and medium.token(getattr(model, "config", None)) is not None
    )

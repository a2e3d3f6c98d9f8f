"""What models of transformers return, and take of each other."""

from __future__ import annotations

from typing import Any

from .probing import Probe, has, lookup

ENCODERS = Probe(
    "encoders and decoders in files of their own",
    has("modeling_outputs", "BaseModelOutput", "BaseModelOutputWithPooling"),
)


def encoder_output(states: Any) -> Any:
    """What decoders ask for an encoder's output, None where it is anything else than the states."""
    names = ("BaseModelOutputWithPooling", "BaseModelOutput")
    kinds = tuple(lookup("modeling_outputs", name) for name in names)
    kind: Any = type("EncoderOutput", kinds, {"__getattr__": _nothing})
    made = kind(last_hidden_state=states)
    # Of an image, some decoders look at what was made a row of its map, which is called so.
    vars(made)["pooler_output"] = states
    return made


def _nothing(_: Any, name: str) -> None:
    if name.startswith("_"):
        raise AttributeError(name)

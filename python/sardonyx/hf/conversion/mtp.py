"""The head for multi-token prediction next to a model, for onnxruntime-genai."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.errors import UsageError, refusal
from sardonyx._transformers_private.mtp import (
    conversions,
    is_head,
    kind_of_layer,
    new_head,
    shared_modules,
)
from sardonyx.hf.checkpoints.weights import PlacedWeights, place_weights
from sardonyx.hf.components.mtp import STATES, STATES_AFTER, mtp_part
from sardonyx.hf.output import genai

if TYPE_CHECKING:
    from sardonyx._model.program import ONNXProgram
    from sardonyx._model.weight_files import WeightInFile
    from sardonyx._optimize.precision import Precision
    from sardonyx.hf.base.parts import Part
    from sardonyx.hf.output.report import Report

FOLDER = "mtp"
_HALVES = ("fp16", "bf16")
# Smaller constants are written into each file that reads them.
_SHARED_BYTES = 1024


class MtpHead:
    """The head of an export. It is written before the model, which reads what they share from the
    head's data: runtimes read files below a model's folder, not above it.

    Attributes:
        head: of transformers.
        placed: where its weights are; None for those in memory.
    """

    def __init__(self, head: Any, model: Any, placed: PlacedWeights | None = None) -> None:
        _check_head(head, model.config)
        self.head = head
        self.placed = placed
        self._names = _shared_names(head, model)
        self._file: Path | None = None
        self._settings: dict[str, Any] = {}
        self._notes: list[str] = []

    @classmethod
    def of_checkpoint(cls, model: Any, placed: PlacedWeights, scratch: Path) -> MtpHead:
        """The head whose weights are among those of the checkpoint that the model has no use for;
        computed ones are written to the folder `scratch`. SX2012 where there are none, SX2004 for
        each that is missing."""
        try:
            head = new_head(model)
        except ValueError as error:
            raise _unfit(f"transformers makes no head of it: {error}", "leave --mtp out") from error
        if head is None or not placed.unused:
            raise _unfit(
                f"the checkpoint of {type(model).__name__} has no head for multi-token prediction",
                "leave --mtp out",
            )
        places = _shared_places(head, model, placed)
        found = place_weights(head, placed.unused, scratch, conversions(head, model), places)
        placed.unused = found.unused
        placed.computed += found.computed
        return cls(head, model, found)

    def write(
        self,
        folder: Path,
        model: Any,
        report: Report,
        write: Callable[..., tuple[Part, ONNXProgram]],
    ) -> None:
        """Has `write` write it to the folder's `FOLDER`, with the runtime's configuration."""
        (folder / FOLDER).mkdir()
        own = replace(report, parts=[], notes=[])
        part, program = write(mtp_part(self.head), self.head, self.placed, folder / FOLDER, own)
        self._file = folder / FOLDER / f"{part.name}.onnx"
        generation = getattr(model, "generation_config", None)
        self._settings = genai.genai_config(
            self._file.name, program._native, model.config, generation, report.runtime
        )
        decoder = self._settings["model"]["decoder"]
        decoder["inputs"][STATES] = STATES
        decoder["outputs"][STATES] = STATES_AFTER
        _write(folder / FOLDER / genai.NAME, self._settings)
        report.mtp = f"{FOLDER}/{self._file.name}"
        self._notes = [f"mtp: {note}" for note in own.notes]

    def share(self, model: _native.Model) -> dict[str, str]:
        """Has the model read what both have from the head's data; that file, and where it is from
        the model's folder."""
        if self._file is None:
            return {}
        data = self._file.with_name(f"{self._file.name}.data")
        if not data.is_file():
            return {}
        written = _native.read_model(os.fspath(self._file))
        shared = _native.take_equal_constants(model, written, self._names, _SHARED_BYTES)
        if not shared:
            return {}
        place = f"{FOLDER}/{data.name}"
        self._notes.append(f"mtp: {shared / 1e6:.1f} MB of the model's weights are in {place}")
        return {os.fspath(data): place}

    def describe(self, folder: Path, report: Report) -> None:
        """Names it in the configuration of the model. SX2012 where one of them alone has a cache in
        one buffer."""
        own_path = folder / genai.NAME
        own = json.loads(own_path.read_text(encoding="utf-8"))
        shared = "past_present_share_buffer"
        if own["search"][shared] != self._settings["search"][shared]:
            raise _unfit("the caches of model and head are not both one buffer", "leave mtp out")
        decoder = self._settings["model"]["decoder"]
        own["model"]["mtp"] = {
            "filename": report.mtp,
            "num_hidden_layers": decoder["num_hidden_layers"],
            "num_key_value_heads": decoder["num_key_value_heads"],
            "head_size": decoder["head_size"],
            "main_hidden_states": STATES,
            "inputs": decoder["inputs"],
            "outputs": decoder["outputs"],
        }
        _write(own_path, own)
        report.notes += self._notes


def check(mtp: Any, is_folder: bool, precision: Precision | None) -> None:
    """SX1001 for a head next to a folder, and for none next to a model in memory; SX2012 for what
    is no head, and for logits that the runtime does not take."""
    if is_folder and mtp is not True:
        raise refusal(
            "SX1001",
            "mtp is a head of a model in memory, not of a folder",
            "mtp=True exports the head that the folder has",
            UsageError,
        )
    if not is_folder and mtp is True:
        raise refusal(
            "SX1001",
            "mtp=True is for the head that a folder has, not for a model in memory",
            "pass the head: MtpModel.from_pretrained(model)",
            UsageError,
        )
    if not is_folder and not is_head(mtp):
        raise _unfit(
            f"a {type(mtp).__name__} is no head for multi-token prediction",
            "pass transformers.modeling_layers.MtpModel.from_pretrained(model)",
        )
    name = "fp32" if precision is None else precision.to
    if name.partition("+")[0] not in _HALVES:
        raise _unfit(
            f"the runtime takes logits of a model with a head in half precision, not in {name}",
            "--precision fp16",
        )


def _check_head(head: Any, config: Any) -> None:
    """SX2012 for one of another model or with another kind of attention."""
    text = config.get_text_config()
    own = head.embed_tokens.num_embeddings
    if own != text.vocab_size:
        raise _unfit(
            f"the head has {own} tokens, and the model {text.vocab_size}",
            "pass the head of this model",
        )
    if head.config.hidden_size != text.hidden_size:
        raise _unfit(
            f"the head reads states of {head.config.hidden_size}, and the model has "
            f"{text.hidden_size}",
            "pass the head of this model",
        )
    if (kind := kind_of_layer(head)) != "full_attention":
        raise _unfit(f"its layer is of the kind {kind}, not full_attention", "leave mtp out")


def _shared_parameters(head: Any, model: Any) -> Iterator[tuple[str, Any, Any]]:
    """The parameters of embeddings and last layer: their names in the head, its own and the
    model's."""
    for path, (own, other) in shared_modules(head, model).items():
        others = {} if other is None else dict(other.named_parameters())
        for name, parameter in own.named_parameters():
            if name in others:
                yield f"{path}.{name}", parameter, others[name]


def _shared_names(head: Any, model: Any) -> list[tuple[str, str]]:
    """Names of weights in the model, and in the head. Tied ones have several."""
    names: dict[int, list[str]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        names.setdefault(id(tensor), []).append(name)
    return [
        (name, own)
        for own, _, other in _shared_parameters(head, model)
        for name in names.get(id(other), [])
    ]


def _shared_places(head: Any, model: Any, placed: PlacedWeights) -> dict[str, WeightInFile]:
    """Where the model has them, by their names in the head."""
    return {
        own: placed.places[name]
        for name, own in _shared_names(head, model)
        if name in placed.places
    }


def _unfit(why: str, help_text: str) -> Exception:
    return refusal("SX2012", f"mtp: {why}", help_text, UsageError)


def _write(path: Path, settings: dict[str, Any]) -> None:
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")

"""The head for multi-token prediction next to a model, for onnxruntime-genai."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import UsageError, refusal
from sardonyx._transformers_private.mtp import is_head, kind_of_layer
from sardonyx.hf.components.mtp import STATES, STATES_AFTER, mtp_part
from sardonyx.hf.output import genai

if TYPE_CHECKING:
    from sardonyx._model.program import ONNXProgram
    from sardonyx._optimize.precision import Precision
    from sardonyx.hf.base.parts import Part
    from sardonyx.hf.output.report import Report

FOLDER = "mtp"
_HALVES = ("fp16", "bf16")


def check_head(head: Any, config: Any, precision: Precision | None) -> None:
    """SX2012 for what is no head, for one of another model or with another kind of attention, and
    for logits that the runtime does not take."""
    if not is_head(head):
        raise _unfit(
            f"a {type(head).__name__} is no head for multi-token prediction",
            "pass transformers.modeling_layers.MtpModel.from_pretrained(model)",
        )
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
    name = "fp32" if precision is None else precision.to
    if name.partition("+")[0] not in _HALVES:
        raise _unfit(
            f"the runtime takes logits of a model with a head in half precision, not in {name}",
            "--precision fp16",
        )


def _unfit(why: str, help_text: str) -> Exception:
    return refusal("SX2012", f"mtp: {why}", help_text, UsageError)


def add_head(
    folder: Path,
    model: Any,
    head: Any,
    report: Report,
    write: Callable[..., tuple[Part, ONNXProgram]],
) -> None:
    """Has `write` write the head to the folder's `FOLDER`, with the runtime's configuration, and
    names it in that of the model. SX2012 where one of them alone has a cache in one buffer."""
    (folder / FOLDER).mkdir()
    own_report = replace(report, parts=[], notes=[])
    part, program = write(mtp_part(head), head, None, folder / FOLDER, own_report)
    file = f"{part.name}.onnx"
    generation = getattr(model, "generation_config", None)
    settings = genai.genai_config(file, program._native, model.config, generation, report.runtime)
    decoder = settings["model"]["decoder"]
    decoder["inputs"][STATES] = STATES
    decoder["outputs"][STATES] = STATES_AFTER
    own_path = folder / genai.NAME
    own = json.loads(own_path.read_text(encoding="utf-8"))
    shared = "past_present_share_buffer"
    if own["search"][shared] != settings["search"][shared]:
        raise _unfit("the caches of model and head are not both one buffer", "leave mtp out")
    _write(folder / FOLDER / genai.NAME, settings)
    own["model"]["mtp"] = {
        "filename": f"{FOLDER}/{file}",
        "num_hidden_layers": decoder["num_hidden_layers"],
        "num_key_value_heads": decoder["num_key_value_heads"],
        "head_size": decoder["head_size"],
        "main_hidden_states": STATES,
        "inputs": decoder["inputs"],
        "outputs": decoder["outputs"],
    }
    _write(own_path, own)
    report.mtp = f"{FOLDER}/{file}"
    report.notes += [f"mtp: {note}" for note in own_report.notes]


def _write(path: Path, settings: dict[str, Any]) -> None:
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")

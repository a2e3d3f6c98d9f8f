"""A small model that proposes tokens, which onnxruntime-genai has the model itself check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import UsageError, refusal
from sardonyx.hf.base.paired_caches import is_state
from sardonyx.hf.checkpoints.checkpoint import read_checkpoint
from sardonyx.hf.output import genai

if TYPE_CHECKING:
    from sardonyx.hf.output.report import Report

FOLDER = "draft"
_TOKENIZER = "tokenizer.json"


def check_vocabulary(folder: Path, config: Any, own_folder: Path | None, trusted: bool) -> None:
    """SX2012 where the draft in `folder` has other tokens than the model of the configuration, or
    another tokenizer than that in `own_folder`."""
    draft = read_checkpoint(folder, trusted).config.get_text_config().vocab_size
    own = config.get_text_config().vocab_size
    if draft != own:
        raise _other_vocabulary(folder, f"has {draft} tokens, and the model {own}")
    if own_folder is None:
        return
    tokens = [_tokens(each) for each in (folder, own_folder)]
    if None not in tokens and tokens[0] != tokens[1]:
        raise _other_vocabulary(folder, f"has another {_TOKENIZER} than the model")


def _tokens(folder: Path) -> Any:
    """The numbers of tokens by their text; None where no tokenizer says them."""
    try:
        found = json.loads((folder / _TOKENIZER).read_text(encoding="utf-8"))
        added = {each["content"]: each["id"] for each in found.get("added_tokens") or ()}
        vocabulary = found["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if isinstance(vocabulary, dict):
        return vocabulary | added
    return vocabulary, added


def _other_vocabulary(folder: Path, why: str) -> Exception:
    return refusal(
        "SX2012",
        f"--draft: {folder} {why}: a draft proposes tokens of the model's own vocabulary",
        "choose a smaller model of the same family",
        UsageError,
    )


def add_draft(folder: Path, draft: Report, report: Report) -> None:
    """Has the runtime's configuration in `folder` name the draft, which was exported to a folder in
    it. Both read the same text, so that it is as long as either takes. SX2012 where one of them
    cannot go back to an earlier token."""
    _check_rewinds({"the model": report, "the draft": draft})
    own = _read(folder)
    other = _read(folder / FOLDER)
    decoder = other["model"]["decoder"]
    decoder["filename"] = f"{FOLDER}/{decoder['filename']}"
    own["model"]["draft"] = decoder
    longest = min(each["model"]["context_length"] for each in (own, other))
    own["model"]["context_length"] = longest
    own["search"]["max_length"] = min(each["search"]["max_length"] for each in (own, other))
    shared = "past_present_share_buffer"
    own["search"][shared] = own["search"][shared] and other["search"][shared]
    (folder / genai.NAME).write_text(json.dumps(own, indent=2) + "\n", encoding="utf-8")
    for file in (folder / FOLDER).iterdir():
        if ".onnx" not in file.name:
            file.unlink()
    report.draft = decoder["filename"]
    report.notes += [f"draft: {note}" for note in draft.notes]


def _check_rewinds(reports: dict[str, Report]) -> None:
    """SX2012 for models with states, which do not forget a rejected token, and for those that take
    one token at a time."""
    for which, report in reports.items():
        inputs = {name: shape for part in report.parts for name, shape in part.inputs.items()}
        why = "has states" if any(map(is_state, inputs)) else "takes one token at a time"
        if why == "has states" or list(inputs["input_ids"][1:]) == [1]:
            raise refusal(
                "SX2012",
                f"--draft: {which} {why}, and the runtime takes back the tokens that are rejected",
                "leave --draft out",
                UsageError,
            )


def _read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / genai.NAME).read_text(encoding="utf-8"))
    return found

"""What must be the same in a program for its weights to be replaced: its configuration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# What says nothing of what is computed.
_IMMATERIAL = frozenset(
    (
        "_name_or_path", "_commit_hash", "architectures", "auto_map", "bos_token_id", "dtype",
        "eos_token_id", "id2label", "label2id", "problem_type", "task_specific_params",
        "torch_dtype", "transformers_version", "use_cache",
    )
)  # fmt: skip
# Where configurations say how weights are coded in few bits, and modelopt's file for it.
QUANTIZATION = ("quantization_config", "compression_config")
QUANTIZATION_FILE = "hf_quant_config.json"
_MAX_TEXT = 40


def settings_in(folder: Path) -> dict[str, str]:
    """The settings of config.json that tell one program from another, as short texts; empty where
    there is none."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return settings_of(config) if isinstance(config, dict) else {}


def settings_of(config: Mapping[str, Any]) -> dict[str, str]:
    """The same of a configuration."""
    return {
        name: _short(json.dumps(value, sort_keys=True))
        for name, value in config.items()
        if name not in _IMMATERIAL and value is not None
    }


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """What differs between two, in a sentence each. Releases of transformers write more or fewer
    settings: what one of the two lacks is no difference."""
    return [
        f"'{name}' of the configuration is {ours[name]} in the model, and {theirs[name]} in the "
        "checkpoint"
        for name in sorted(ours.keys() & theirs.keys())
        if ours[name] != theirs[name]
    ]


def _short(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return text
    return "#" + hashlib.sha256(text.encode()).hexdigest()[:12]

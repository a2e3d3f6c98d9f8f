"""What onnxruntime-genai wants beside the ONNX file of a decoder: `genai_config.json`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from sardonyx import _native
from sardonyx.hf.output.report import ExportedPart

NAME = "genai_config.json"
RUNTIME = "onnxruntime-genai"
# What the configuration says of the provider, by target. Without the strict mode, CUDA's kernels of
# SkipLayerNormalization add up in half precision.
_PROVIDERS: dict[str, list[dict[str, dict[str, str]]]] = {
    RUNTIME: [],
    "onnxruntime-genai-cuda": [
        {"cuda": {"enable_cuda_graph": "0", "enable_skip_layer_norm_strict_mode": "1"}}
    ],
    "onnxruntime-genai-webgpu": [{"webgpu": {}}],
    "onnxruntime-genai-dml": [{"dml": {"enable_graph_capture": "0"}}],
}

# Targets whose kernel of GroupQueryAttention takes several tokens for the first ones of a text.
_PROMPTS_FIRST = frozenset({"onnxruntime-genai-dml"})

# A kind of model of the runtime's that asks for no architecture's name.
_TYPE = "decoder"
_PIPELINE_TYPE = "decoder-pipeline"
_STATES = "hidden_states"
_FED = ("input_ids", "attention_mask", "position_ids")
_PAST = "past_key_values.%d."
_PRESENT = "present.%d."
_SEARCH = ("do_sample", "num_beams", "repetition_penalty", "temperature", "top_k", "top_p")


def is_for(runtime: str) -> bool:
    """Whether the target is this runtime, on any provider."""
    return runtime in _PROVIDERS


def takes_drafts(runtime: str) -> bool:
    """Whether models for the target compute several tokens behind a cache, as those of a draft."""
    return is_for(runtime) and runtime not in _PROMPTS_FIRST


def declined(model: _native.Model, optional: Collection[str] = ()) -> str:
    """Why the runtime does not run a decoder; empty where it does. It knows tokens, and a cache of
    keys and values that have one shape in all layers. It leaves `optional` inputs out."""
    shapes = {name: shape or [] for name, _, shape in model.inputs if name not in optional}
    caches = {n: s for n, s in shapes.items() if n.startswith("past_key_values.")}
    others = [name for name in shapes if name not in caches and name not in _FED]
    if others or "input_ids" not in shapes:
        return f"it knows no input {', '.join(others) or 'but input_ids'}"
    if len(shapes["input_ids"]) != 2:
        return "its tokens are frames of several codes"
    if shapes["input_ids"][1:] == [1]:
        return "it passes prompts at once, and the model's own code takes one token at a time"
    layers = len(caches) // 2
    wanted = {_PAST % n + kind for n in range(layers) for kind in ("key", "value")}
    if not caches or wanted != set(caches):
        odd = sorted(set(caches) - wanted) or sorted(wanted - set(caches))
        return f"it keeps keys and values of every layer, not {', '.join(odd[:3])}"
    if len({(shape[1], shape[3]) for shape in caches.values()}) > 1:
        return "its layers have different numbers of heads"
    return ""


def write_genai_config(
    folder: Path,
    file: str,
    model: _native.Model,
    source: Any,
    *,
    runtime: str = RUNTIME,
    stages: Sequence[ExportedPart] = (),
    longest: int | None = None,
) -> None:
    """Writes it for the decoder `file` of the folder, which holds `model`, made of `source`: a
    model of transformers, whose configurations say what ends a text and how tokens are chosen.
    `stages`: the files that are run in its place, one after another. `longest`: the tokens that the
    cache has places for."""
    generation = getattr(source, "generation_config", None)
    settings = genai_config(file, model, source.config, generation, runtime)
    if longest is not None:
        settings["search"]["max_length"] = min(longest, settings["search"]["max_length"])
    if stages:
        _of_pipeline(settings["model"], stages)
    text = json.dumps(settings, indent=2)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def genai_config(
    file: str,
    model: _native.Model,
    config: Any,
    generation: Any = None,
    runtime: str = RUNTIME,
) -> dict[str, Any]:
    """What the file says. The runtime refuses keys that it does not know."""
    layers, heads, head_size = _cache(model)
    length = context_length(config)
    text = config.get_text_config()
    attention_heads = getattr(text, "num_attention_heads", None) or heads
    return {
        "model": {
            "type": _TYPE,
            **_special_tokens(config, generation),
            "vocab_size": text.vocab_size,
            "context_length": length,
            "decoder": {
                "session_options": {
                    "log_id": RUNTIME,
                    "provider_options": _PROVIDERS[runtime],
                },
                "filename": file,
                "head_size": head_size,
                "hidden_size": text.hidden_size,
                "num_attention_heads": attention_heads,
                "num_hidden_layers": layers,
                "num_key_value_heads": heads,
                "inputs": _inputs(model),
                "outputs": _outputs(model),
            },
        },
        "search": {
            "max_length": length,
            "past_present_share_buffer": shares_cache(model),
            **_search(generation),
        },
    }


def _of_pipeline(settings: dict[str, Any], stages: Sequence[ExportedPart]) -> None:
    """The runtime passes what one file makes to those after it, by name."""
    settings["type"] = _PIPELINE_TYPE
    del settings["decoder"]["filename"]
    settings["decoder"]["pipeline"] = [
        {
            stage.file.removesuffix(".onnx"): {
                "filename": stage.file,
                "inputs": list(stage.inputs),
                "outputs": list(stage.outputs),
            }
        }
        for stage in stages
    ]


def shares_cache(model: _native.Model) -> bool:
    """Whether past and present keys and values may be one buffer: GroupQueryAttention alone writes
    new ones behind the old, and what else reads the past would see the whole buffer."""
    caches = [name for name, _, _ in model.inputs if name.startswith("past_key_values.")]
    readers = {reader for name in caches for reader in _native.readers(model, name)}
    return readers == {("com.microsoft", "GroupQueryAttention")}


def _cache(model: _native.Model) -> tuple[int, int, int]:
    """Layers, and of the first one heads of keys and values and their size."""
    shapes = [shape for name, _, shape in model.inputs if name.endswith(".key")]
    first = shapes[0] if shapes else None
    if first is None or not isinstance(first[1], int) or not isinstance(first[3], int):
        raise ValueError("the model has no cache of keys and values of known sizes")
    return len(shapes), first[1], first[3]


def _inputs(model: _native.Model) -> dict[str, str]:
    names = [name for name, _, _ in model.inputs]
    fed = {name: name for name in _FED if name in names}
    return fed | {"past_key_names": _PAST + "key", "past_value_names": _PAST + "value"}


def _outputs(model: _native.Model) -> dict[str, str]:
    named = {
        "logits": "logits",
        "present_key_names": _PRESENT + "key",
        "present_value_names": _PRESENT + "value",
    }
    further = {name: name for name, _, _ in model.outputs if name == _STATES}
    return named | further


def context_length(config: Any) -> int:
    """The tokens of the longest text that the model was made for."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
        value = getattr(config.get_text_config(), name, None)
        if isinstance(value, int) and value > 0:
            return value
    return 2048


def _special_tokens(config: Any, generation: Any) -> dict[str, int | list[int]]:
    """Those that begin, end and fill texts. The runtime wants all three."""
    found: dict[str, int | list[int]] = {}
    for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
        value = getattr(generation, name, None)
        value = getattr(config, name, None) if value is None else value
        if value is not None:
            found[name] = list(value) if isinstance(value, Sequence) else int(value)
    last = found.setdefault("eos_token_id", 0)
    first = last[0] if isinstance(last, list) else last
    found.setdefault("bos_token_id", first)
    found.setdefault("pad_token_id", first)
    return found


def _search(generation: Any) -> dict[str, Any]:
    values = {name: getattr(generation, name, None) for name in _SEARCH}
    return {name: value for name, value in values.items() if value is not None}

"""What onnxruntime-genai wants beside the ONNX file of a decoder: `genai_config.json`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from sardonyx import _native
from sardonyx.hf.base.caches import PAST, PRESENT
from sardonyx.hf.base.paired_caches import PAIRED_STATES, is_state
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
_PAST = f"{PAST}%d."
_PRESENT = f"{PRESENT}%d."
_SEARCH = ("do_sample", "num_beams", "repetition_penalty", "temperature", "top_k", "top_p")


def is_for(runtime: str) -> bool:
    """Whether the target is this runtime, on any provider."""
    return runtime in _PROVIDERS


def takes_drafts(runtime: str) -> bool:
    """Whether models for the target compute several tokens behind a cache, as those of a draft."""
    return is_for(runtime) and runtime not in _PROMPTS_FIRST


def declined(model: _native.Model, optional: Collection[str] = ()) -> str:
    """Why the runtime does not run a decoder; empty where it does. It knows tokens, and a cache of
    pairs by layer: keys and values of one shape, and two states that have the same shapes in all
    layers. It leaves `optional` inputs out."""
    shapes = {name: shape or [] for name, _, shape in model.inputs if name not in optional}
    caches = {n: s for n, s in shapes.items() if n.startswith(PAST)}
    others = [name for name in shapes if name not in caches and name not in _FED]
    if others or "input_ids" not in shapes:
        return f"it knows no input {', '.join(others) or 'but input_ids'}"
    if len(shapes["input_ids"]) != 2:
        return "its tokens are frames of several codes"
    odd = [name for name in caches if _partner(name) not in caches]
    if odd or not caches:
        return f"it keeps pairs of keys and values or of states, not {', '.join(odd[:3]) or 'none'}"
    if any(shapes[name][1::2] != shapes[_partner(name)][1::2] for name in caches if is_key(name)):
        return "its keys have another number of heads, or another width, than its values"
    return _declined_states(model, {n: s for n, s in caches.items() if is_state(n)})


def _declined_states(model: _native.Model, states: Mapping[str, Sequence[object]]) -> str:
    """Why the runtime does not keep the states: it has one buffer for each, which the model reads
    and writes, and does not ask for shapes of each layer."""
    for kind in PAIRED_STATES:
        found = {tuple(shape[1:]) for name, shape in states.items() if name.endswith(kind)}
        if len(found) > 1 or not all(isinstance(size, int) for size in next(iter(found), ())):
            return f"its {kind} has no shape that is that of all layers"
    for name in states:
        if not _native.may_share_memory(model, name, name.replace(PAST, PRESENT, 1)):
            return f"it writes {name} in place, and the model may read it after that"
    return ""


def takes_one_token(model: _native.Model) -> bool:
    """Whether the model's own code takes one token at a time."""
    return any(name == "input_ids" and (shape or [])[1:] == [1] for name, _, shape in model.inputs)


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
    attention_heads = _number(text, "num_attention_heads") or heads
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
            # A prompt goes through it in pieces of so many tokens.
            **({"chunk_size": 1} if takes_one_token(model) else {}),
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
    new ones behind the old, and what else reads past or present would see the whole buffer."""
    past = keys_and_values(model)
    present = [name.replace(PAST, PRESENT, 1) for name in past]
    readers = {each for name in (*past, *present) for each in _native.readers(model, name)}
    return readers == {("com.microsoft", "GroupQueryAttention")}


def keys_and_values(model: _native.Model) -> list[str]:
    """The inputs that hold tokens: all of the cache but states."""
    names = [name for name, _, _ in model.inputs if name.startswith(PAST)]
    return [name for name in names if not is_state(name)]


def is_key(name: str) -> bool:
    """Whether the input is keys of a layer."""
    return name.startswith(PAST) and name.endswith(".key")


def _partner(name: str) -> str:
    """The other input of a pair; empty for what is of none."""
    layer, _, kind = name.removeprefix(PAST).rpartition(".")
    pairs = (("key", "value"), PAIRED_STATES)
    others = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    return f"{PAST}{layer}.{others[kind]}" if kind in others and layer.isdigit() else ""


def _cache(model: _native.Model) -> tuple[int, int, int]:
    """Layers with keys and values, and of the first one heads and their size; layers with states,
    and ones, where there is none."""
    shapes = [shape for name, _, shape in model.inputs if is_key(name)]
    first = shapes[0] if shapes else None
    if first is None:
        states = [name for name, _, _ in model.inputs if is_state(name)]
        if not states:
            raise ValueError("the model has no cache")
        return len(states) // 2, 1, 1
    if not isinstance(first[1], int) or not isinstance(first[3], int):
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
        value = _number(config.get_text_config(), name)
        if value is not None and value > 0:
            return value
    return 2048


def _number(config: Any, name: str) -> int | None:
    """A number of a configuration; None where it has none, or one for each layer."""
    try:
        value = getattr(config, name, None)
    except Exception:  # transformers' for what differs from layer to layer
        return None
    return value if isinstance(value, int) else None


def notes(model: _native.Model, config: Any, takes_positions: bool) -> list[str]:
    """What the runtime cannot do with the model that it does with others. `takes_positions`:
    whether the model has position_ids as it was captured."""
    if takes_one_token(model):
        text = (
            "onnxruntime-genai runs it for one sequence at a time, and passes prompts token by "
            "token: the model's own code takes one token at a time"
        )
        return [text]
    if why := _why_of_one_length(model, config, takes_positions):
        text = "prompts of one batch must be of one length"
        return [f"{text}: onnxruntime-genai fills shorter ones at the end, and {why}"]
    return []


def _why_of_one_length(model: _native.Model, config: Any, takes_positions: bool) -> str:
    """What becomes of the places that the runtime fills; empty where they have no effect."""
    if any(is_state(name) for name, _, _ in model.inputs):
        return "states take in what fills them"
    if any(name == "logits" and (shape or [])[1:2] == [1] for name, _, shape in model.outputs):
        return "the logits are those of the last place"
    if not takes_positions:
        return "the model, which takes no position_ids, may count what fills them"
    if not shares_cache(model) and _has_windows(config):
        return "the windows of its attention count what fills them"
    return ""


def _has_windows(config: Any) -> bool:
    """Whether some layers attend to the last tokens alone: "sliding_window", "window_size"."""
    values = config.get_text_config().to_dict()
    return any("window" in name and type(value) is int for name, value in values.items())


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

"""Builds small models from any configuration of transformers, by rules on names, not per model.

Widths, counts and vocabularies are cut where a configuration has them. What a model derives from
two of its settings may then not fit, so there is a ladder of profiles, each cutting less.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from transformers.models.auto.modeling_auto import MODEL_MAPPING

from .settings import GIVEN

VOCABULARY = 160
# Special tokens get ids below this one, so that input drawn from above it holds none.
FIRST_PLAIN_TOKEN = 64

_LAYER_COUNTS = frozenset(
    (
        "num_hidden_layers",
        "num_layers",
        "n_layer",
        "n_layers",
        "encoder_layers",
        "decoder_layers",
        "depth",
        "layers",
        "num_decoder_layers",
        "num_encoder_layers",
        "encoder_num_hidden_layers",
        "decoder_num_hidden_layers",
        "l_layers",
        "x_layers",
        "r_layers",
        "encoder_n_layers",
        "num_mask_decoder_layers",
        "depth_decoder_num_layers",
        "memory_attention_num_layers",
        "resampler_depth",
        "fusion_layers",
        "num_lstm_layers",
        "speech_encoder_layers",
        "t2u_encoder_layers",
        "t2u_decoder_layers",
        "vision_layers",
        "text_layers",
        "prediction_head_layers",
    )
)
_WIDTHS = {
    "hidden_size": 64,
    "d_model": 64,
    "n_embd": 64,
    "dim": 64,
    "emb_dim": 64,
    "embed_dim": 64,
    "encoder_hidden_size": 64,
    "decoder_hidden_size": 64,
    # Of an encoder's last states and of those of one layer beside them.
    "vision_output_dim": 128,
    "embedding_size": 64,
    "word_embed_proj_dim": 64,
    "projection_dim": 64,
    "out_hidden_size": 64,
    "output_hidden_size": 64,
    "vision_hidden_size": 64,
    "text_hidden_size": 64,
    "hidden_dim": 64,
    "intermediate_size": 72,
    "ffn_dim": 72,
    "encoder_ffn_dim": 72,
    "decoder_ffn_dim": 72,
    "d_ff": 72,
    "d_inner": 72,
    "n_inner": 72,
    "dff": 72,
    "mlp_dim": 72,
    "ffn_hidden_size": 72,
    "moe_intermediate_size": 48,
    "shared_expert_intermediate_size": 48,
    "shared_intermediate_size": 48,
    "num_attention_heads": 4,
    "num_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "attention_heads": 4,
    "num_key_value_heads": 2,
    "num_kv_heads": 2,
    "head_dim": 16,
    "global_head_dim": 16,
    "d_kv": 16,
    "kv_lora_rank": 24,
    "q_lora_rank": 24,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 16,
    "qk_head_dim": 32,
    "v_head_dim": 16,
    "index_n_heads": 4,
    "index_head_dim": 16,
    "index_topk": 8,
    "rotary_dim": 8,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "mamba_d_state": 16,
    "mamba_n_heads": 8,
    "mamba_d_head": 16,
    "mamba_num_heads": 8,
    "mamba_head_dim": 16,
    "mamba_chunk_size": 8,
    "state_size": 16,
    "ssm_state_size": 16,
    "lru_width": 64,
    "num_experts": 4,
    "n_routed_experts": 4,
    "num_local_experts": 4,
    "moe_num_experts": 4,
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "num_expert_group": 1,
    "moe_topk": 2,
    "moe_k": 2,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "hidden_size_per_layer_input": 16,
    "classifier_proj_size": 32,
    "tdnn_dim": 32,
    "num_codevectors_per_group": 32,
    "codevector_dim": 32,
    "proj_codevector_dim": 32,
    "num_queries": 20,
    "encoder_hidden_dim": 64,
    "attention_hidden_size": 64,
}
_LENGTHS = {
    "max_position_embeddings": 128,
    "n_positions": 128,
    "max_source_positions": 40,
    "max_target_positions": 64,
    "max_2d_position_embeddings": 128,
    "num_frames": 4,
    "block_size": 8,
    "sliding_window": 8,
    "local_attention": 8,
    "attention_chunk_size": 8,
    "max_window_layers": 1,
    "mm_tokens_per_image": 4,
}
_VOCABULARIES = frozenset(
    (
        "vocab_size",
        "unpadded_vocab_size",
        "vocab_size_per_layer_input",
        "vocab_offset",
        "input_vocab_size",
        "output_vocab_size",
        "src_vocab_size",
        "tgt_vocab_size",
        "entity_vocab_size",
        "encoder_vocab_size",
        "decoder_vocab_size",
        "text_vocab_size",
        "char_vocab_size",
        "t2u_vocab_size",
        "unit_hifi_gan_vocab_size",
        "ngram",
        "image_vocab_size",
    )
)
# Of what checkpoints have a token, where their configuration's class has none.
_MEDIA_TOKENS = (
    "image_token_id",
    "image_token_index",
    "video_token_index",
    "audio_token_id",
    "audio_token_index",
)
_REMOVED = ("model_type", "transformers_version", "architectures", "dtype", "torch_dtype")


@dataclass(frozen=True)
class Profile:
    name: str
    widths: bool
    images: bool
    lengths: bool = True
    layers: bool = True
    # Whether positions in several directions get their shares of a head, which are in the code of
    # some models, for heads of its own size, where the configuration has none.
    sections: bool = False


PROFILES = (
    Profile("all", widths=True, images=True),
    Profile("all, sections", widths=True, images=True, sections=True),
    Profile("all but images", widths=True, images=False),
    Profile("layers and images", widths=False, images=True),
    Profile("layers", widths=False, images=False),
    Profile("layers alone", widths=False, images=False, lengths=False),
    Profile("nothing", widths=False, images=False, lengths=False, layers=False),
)


def architectures() -> list[str]:
    return sorted({config.model_type for config in MODEL_MAPPING})


def config_class(architecture: str) -> type[Any]:
    found: type[Any] = transformers.CONFIG_MAPPING[architecture]
    return found


def tiny_config(architecture: str, profile: Profile) -> Any:
    kind = config_class(architecture)
    settings = _without_timm(kind().to_dict())
    config = kind(**_shrunk(settings, profile))
    for part in parts_of(config):
        if hasattr(part, "use_cache"):
            part.use_cache = False
    return config


def _without_timm(settings: dict[str, Any]) -> dict[str, Any]:
    """Backbones of the timm library become a ResNet with as many stages."""
    inner = settings.get("backbone_config")
    if not settings.get("use_timm_backbone") and not (
        isinstance(inner, dict) and inner.get("model_type") == "timm_backbone"
    ):
        return settings
    stages = ["stage1", "stage2", "stage3", "stage4"]
    number = len((inner or {}).get("out_indices") or [1])
    backbone = transformers.ResNetConfig(
        embedding_size=8,
        hidden_sizes=[16, 16, 24, 32],
        depths=[1, 1, 1, 1],
        out_features=stages[-number:],
    )
    changes = {"use_timm_backbone": False, "backbone": None, "use_pretrained_backbone": False}
    changed = {k: v for k, v in changes.items() if k in settings}
    return {**settings, **changed, "backbone_config": backbone.to_dict()}


def tiny_model(config: Any, seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    model: torch.nn.Module = transformers.AutoModel.from_config(config)
    return model.eval()


def parts_of(config: Any) -> Iterator[Any]:
    """The configuration, and those in it."""
    yield config
    for value in vars(config).values():
        if isinstance(value, transformers.PretrainedConfig):
            yield from parts_of(value)


def _shrunk(settings: dict[str, Any], profile: Profile) -> dict[str, Any]:
    kept = {k: v for k, v in settings.items() if k not in _REMOVED}
    positions = _kept_layers(settings) if profile.layers else None
    result: dict[str, Any] = {}
    specials = 3
    for key, value in kept.items():
        if key == "per_layer_config" and value and positions:
            numbers = {old: new for new, old in enumerate(positions)}
            result[key] = {numbers[int(k)]: v for k, v in value.items() if int(k) in numbers}
        elif isinstance(value, dict) and ("model_type" in value or key.endswith("config")):
            result[key] = _shrunk(value, profile) | _identity(value)
            if key == "audio_config" and profile.widths:
                result[key] |= _widths_of_sounds(value, result[key])
        elif key == "prediction_length" and value is None:
            result[key] = 8
        elif key == "num_experts_per_tok" and value is None:
            result[key] = 2
        elif key in _MEDIA_TOKENS and value is None:
            result[key], specials = _special(key, 0, specials)
        elif isinstance(value, bool) or value is None:
            result[key] = value
        elif key.endswith(("token_id", "token_index", "tokens_ids")):
            result[key], specials = _special(key, value, specials)
        elif isinstance(value, int):
            result[key] = _shrunk_number(key, value, profile, positions)
        elif isinstance(value, (list, tuple)):
            result[key] = _shrunk_list(key, list(value), profile, positions, settings)
        elif isinstance(value, dict) and "rope" in key:
            result[key] = _shrunk_rope(value, profile)
        else:
            result[key] = value
    if profile.layers:
        _name_kept_stages(settings, result)
    rope = result.get("rope_parameters")
    if profile.sections and isinstance(rope, dict) and "num_key_value_heads" in result:
        half = int(_WIDTHS["head_dim"] * rope.get("partial_rotary_factor", 1)) // 2
        shares = [half // 4, (half - half // 4) // 2]
        result["rope_parameters"] = {"mrope_section": [*shares, half - sum(shares)], **rope}
    heads = result.get("num_attention_heads")
    if heads and profile.widths:
        # What models derive when they have no number, and some only when they are converted.
        if result.get("num_key_value_heads", 0) is None:
            result["num_key_value_heads"] = heads
        if result.get("head_dim", 0) is None and isinstance(result.get("hidden_size"), int):
            result["head_dim"] = result["hidden_size"] // heads
    if "kv_lora_rank" in result and "num_attention_heads" in result:
        # Latent attention has as many heads of keys as of queries.
        result["num_key_value_heads"] = result["num_attention_heads"]
    return _merged(result, GIVEN.get(settings.get("model_type", ""), {}))


def _name_kept_stages(settings: dict[str, Any], result: dict[str, Any]) -> None:
    """Backbones of as many stages as layers give what comes of as many of the layers that are
    kept."""
    names, count = settings.get("out_features"), settings.get("num_hidden_layers")
    if (
        not names
        or not isinstance(count, int)
        or f"stage{count}" not in (settings.get("stage_names") or [f"stage{count}"])
    ):
        return
    if all(name in ("stem", *(f"stage{n}" for n in range(1, count + 1))) for name in names):
        layers = max(2, len(names))
        result["num_hidden_layers"] = layers
        result["out_features"] = [f"stage{layers - n}" for n in reversed(range(len(names)))]
        result.pop("out_indices", None)
        result.pop("stage_names", None)


def _merged(settings: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in given):
        return given
    both = {key: settings[key] for key in given if isinstance(settings.get(key), dict)}
    return {**settings, **given, **{key: _merged(both[key], given[key]) for key in both}}


def _identity(value: dict[str, Any]) -> dict[str, Any]:
    return {"model_type": value["model_type"]} if "model_type" in value else {}


def _special(key: str, value: Any, used: int) -> tuple[Any, int]:
    fixed = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    if isinstance(value, (list, tuple)):
        return [2], used
    if not isinstance(value, int) or value < 0:
        return value, used
    if key in fixed:
        return fixed[key], used
    return used, used + 1


def _layer_kinds(settings: dict[str, Any]) -> list[Any]:
    """What tells the layers of a model apart, a list as long as there are layers."""
    names = ("layer_types", "mlp_layer_types", "layers_block_type", "no_rope_layers")
    lists = [settings[n] for n in names if isinstance(settings.get(n), list)]
    lists = [values for values in lists if values and len(values) == len(lists[0])]
    return list(zip(*lists, strict=True)) if lists else []


def _kept_layers(settings: dict[str, Any]) -> list[int]:
    """One layer of each kind, at least two."""
    kinds = _layer_kinds(settings)
    first: dict[Any, int] = {}
    for index, kind in enumerate(kinds):
        first.setdefault(kind, index)
    kept = sorted(first.values())[:4]
    for index in range(len(kinds)):
        if len(kept) >= 2:
            break
        if index not in kept:
            kept = sorted([*kept, index])
    return kept


def _widths_of_sounds(settings: dict[str, Any], shrunk: dict[str, Any]) -> dict[str, Any]:
    """Those that hang on others: of four states of an encoder beside each other, and of the text
    that its output stands in."""
    found: dict[str, Any] = {}
    width = settings.get("hidden_size")
    if isinstance(width, int) and settings.get("intermediate_size") == 4 * width:
        found["intermediate_size"] = 4 * shrunk["hidden_size"]
    if isinstance(settings.get("output_dim"), int):
        found["output_dim"] = min(settings["output_dim"], _WIDTHS["hidden_size"])
    if "n_window" in settings and "max_source_positions" in settings:
        found["max_source_positions"] = settings["max_source_positions"]
    return found


def _shrunk_number(key: str, value: int, profile: Profile, positions: list[int] | None) -> int:
    if key in _VOCABULARIES and profile.lengths:
        return min(value, VOCABULARY)
    if key in _LAYER_COUNTS and profile.layers:
        return min(value, len(positions) if positions else 2)
    if key in _WIDTHS and profile.widths:
        return min(value, _WIDTHS[key])
    if key in _LENGTHS and profile.lengths:
        return min(value, _LENGTHS[key])
    if key in ("image_size", "pretrain_image_size") and profile.images:
        return min(value, 64 if value % 16 == 0 else value)
    return value


def _shrunk_list(
    key: str,
    value: list[Any],
    profile: Profile,
    positions: list[int] | None,
    settings: dict[str, Any],
) -> list[Any]:
    kinds = _layer_kinds(settings)
    if positions and len(value) == len(kinds):
        return [value[i] for i in positions]
    numbers = all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    if not value or not numbers:
        return value
    if key in ("depths", "num_layers", "layer_depths", "encoder_depths") and profile.layers:
        return [min(v, 2) for v in value]
    if key in ("intermediate_layers_indices", "cross_attention_layers") and profile.layers:
        return [1]
    if key == "image_size" and profile.images:
        return [min(v, 64) for v in value]
    if key in ("hidden_sizes", "embed_dims", "conv_dim", "channels") and profile.widths:
        return [max(8, v // 8) if v % 64 == 0 else v for v in value]
    return value


def _shrunk_rope(value: dict[str, Any], profile: Profile) -> dict[str, Any]:
    """Sections and factors count halves of a head."""
    if not profile.widths:
        return value
    half = _WIDTHS["head_dim"] // 2
    result = dict(value)
    for key, part in value.items():
        if isinstance(part, dict):
            result[key] = _shrunk_rope(part, profile)
        elif key == "mrope_section" and part:
            shares = [max(1, math.floor(half * p / sum(part))) for p in part]
            shares[0] += half - sum(shares)
            result[key] = shares
        elif key in ("long_factor", "short_factor") and part:
            result[key] = list(part)[:half]
    return result

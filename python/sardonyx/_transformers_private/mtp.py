"""Heads for multi-token prediction: a layer that reads the states of a model and its next token."""

from __future__ import annotations

from typing import Any

from .models import without_initialization
from .probing import Probe, has, lookup

_MODULE = "modeling_layers"
_LOGITS = ("MtpModel", "_project_to_logits")
HEADS = Probe(
    "heads for multi-token prediction",
    has(_MODULE, ".".join(_LOGITS), "MtpLayer.forward"),
    has("masking_utils", "create_causal_mask"),
)
IN_CHECKPOINTS = Probe(
    "heads for multi-token prediction in checkpoints",
    has(_MODULE, "MtpModel.get_weight_conversions"),
    has("configuration_utils", "PreTrainedConfig.get_mtp_config"),
)


def is_head(value: Any) -> bool:
    """Whether it is a head of transformers'."""
    return HEADS.available and isinstance(value, lookup(_MODULE, "MtpModel"))


def new_head(model: Any) -> Any:
    """The first layer of the model's own head, in float32, whose weights hold nothing that means
    anything; the embeddings and the last layer are the model's. None where its configuration names
    no head."""
    config = model.config.get_text_config()
    if not (IN_CHECKPOINTS.available and getattr(config, "num_mtp_layers", None)):
        return None
    with without_initialization():
        head = lookup(_MODULE, "MtpModel")(model, 1)
    return head.float().eval()


def conversions(head: Any, model: Any) -> list[Any]:
    """transformers' conversions of tensors of the model's checkpoint to weights of this head."""
    found: list[Any] = head.get_weight_conversions(model)
    return found


def shared_modules(head: Any, model: Any) -> dict[str, tuple[Any, Any]]:
    """The embeddings and the last layer: by name in the head, its own and the model's."""
    return {
        "embed_tokens": (head.embed_tokens, model.get_input_embeddings()),
        "shared_head": (head.shared_head, model.get_output_embeddings()),
    }


def kind_of_layer(head: Any) -> str:
    """What the first layer of a head attends to: "full_attention"."""
    kinds = getattr(head.config, "layer_types", None)
    return str(kinds[0]) if kinds else "full_attention"


def run_first_layer(
    head: Any, input_ids: Any, states: Any, *, mask: Any, positions: Any, cache: Any
) -> tuple[Any, Any]:
    """Logits [batch, length, vocabulary] of the tokens after `input_ids` [batch, length], and the
    states that a next step reads. `states` [batch, length, hidden] are the model's for the tokens
    before `input_ids`; `mask` is over the past in the cache and these; the cache gets more."""
    embeddings = head.embed_tokens(input_ids)
    mask_of_all = lookup("masking_utils", "create_causal_mask")(
        config=head.config, inputs_embeds=embeddings, attention_mask=mask, cache=cache,
        position_ids=positions,
    )  # fmt: skip
    rotated = None
    if head.rotary_emb is not None:
        kind = {"layer_type": kind_of_layer(head)} if head.has_per_layer_rope else {}
        rotated = head.rotary_emb(embeddings, position_ids=positions, **kind)
    hidden = head.layers[0](
        embeddings, states, position_embeddings=rotated, position_ids=positions, cache=cache,
        attention_mask=mask_of_all,
    )  # fmt: skip
    if head.use_shared_post_norm:
        hidden = head.shared_post_norm(hidden)
    return lookup(_MODULE, *_LOGITS)(head, hidden), hidden

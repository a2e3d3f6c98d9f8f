"""Heads for multi-token prediction: a layer that reads the states of a model and its next token."""

from __future__ import annotations

from typing import Any

from .probing import Probe, has, lookup

_MODULE = "modeling_layers"
_LOGITS = ("MtpModel", "_project_to_logits")
HEADS = Probe(
    "heads for multi-token prediction",
    has(_MODULE, ".".join(_LOGITS), "MtpLayer.forward"),
    has("masking_utils", "create_causal_mask"),
)


def is_head(value: Any) -> bool:
    """Whether it is a head of transformers'."""
    return HEADS.available and isinstance(value, lookup(_MODULE, "MtpModel"))


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

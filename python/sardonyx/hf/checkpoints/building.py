"""Models without their weights: built as transformers builds them, with memory that is never
touched in place of parameters, so that their size costs nothing; buffers have their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sardonyx._transformers_private import models
from sardonyx.hf.base.packages import lacking
from sardonyx.hf.components.composites import run_as_encoder

if TYPE_CHECKING:
    import torch

    from .checkpoint import Checkpoint
    from .weights import PlacedWeights


def build(checkpoint: Checkpoint, model_class: type[Any]) -> torch.nn.Module:
    """The model in float32, for inference. Its parameters hold nothing that means anything.

    Nothing is written to them, so the system gives them no memory. What stands in no checkpoint
    (rotary frequencies, masks, tables of positions) is computed, as the model's constructor and
    initialization do.
    """
    try:
        model = models.built(model_class, config_of(model_class, checkpoint))
    except ImportError as error:
        raise lacking(model_class.__name__, error) from error
    run_as_encoder(model)
    built: torch.nn.Module = model.eval()
    return built


def config_of(model_class: type[Any], checkpoint: Checkpoint) -> Any:
    """The configuration that the class takes: of a model of several parts, maybe the text's."""
    config = checkpoint.config
    text = getattr(config, "sub_configs", {}).get("text_config")
    return config.get_text_config() if text is model_class.config_class else config


def filled(model: torch.nn.Module, placed: PlacedWeights) -> torch.nn.Module:
    """A model that was built without its weights, with them."""
    import torch

    from .weights import mapped, reading_files

    known = model.state_dict(keep_vars=True)
    with torch.no_grad(), reading_files():
        for name, place in placed.places.items():
            known[name].copy_(mapped(place))
    return model


def load(checkpoint: Checkpoint, model_class: type[Any]) -> torch.nn.Module:
    """The model with its weights in memory, in float32, by transformers itself."""
    import torch

    part: dict[str, Any] = {}
    if checkpoint.part:
        part = {"config": checkpoint.config, "key_mapping": {rf"^{checkpoint.part}\.": ""}}
    model: torch.nn.Module = model_class.from_pretrained(
        checkpoint.folder,
        **part,
        dtype=torch.float32,
        trust_remote_code=checkpoint.trust_remote_code,
        local_files_only=True,
    )
    run_as_encoder(model)
    return model.eval()

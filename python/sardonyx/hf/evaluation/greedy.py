"""Greedy decoding in PyTorch, which that of an exported model is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from sardonyx.hf.base.example import Tensors
from sardonyx.hf.base.parts import accepted, fixed_arguments

from .generation import likeliest, with_next


def greedy(
    model: torch.nn.Module,
    ids: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
    beside: Tensors | None = None,
    *,
    never: Sequence[int] = (),
) -> torch.Tensor:
    """Greedy tokens of PyTorch's, all of the text in every step: no cache can be wrong. `beside`
    are images and what belongs to the tokens of the prompt; `never` are no tokens of an answer."""
    taken = accepted(model)
    beside = dict(beside or {})
    with torch.no_grad():
        for _ in range(steps):
            given = {
                "input_ids": ids,
                "attention_mask": mask,
                "position_ids": (mask.cumsum(-1) - 1).clamp_min(0),
                **beside,
            }
            feed = {name: value for name, value in given.items() if name in taken}
            logits = model(**feed, **fixed_arguments(model)).logits
            ids = torch.cat([ids, likeliest(logits, never)], dim=1)
            mask = torch.cat([mask, mask.new_ones(mask.shape[0], 1)], dim=1)
            if "position_ids" in beside:
                beside["position_ids"] = with_next(beside["position_ids"])
            if "mm_token_type_ids" in beside:
                kinds = beside["mm_token_type_ids"]
                beside["mm_token_type_ids"] = torch.cat([kinds, torch.zeros_like(kinds[:, :1])], 1)
    return ids


def greedy_with_cache(
    model: torch.nn.Module,
    ids: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
    never: Sequence[int] = (),
) -> torch.Tensor:
    """Greedy tokens of PyTorch's with the cache that transformers gives the model."""
    generate: Any = model.generate
    made: Any = generate(
        input_ids=ids,
        attention_mask=mask,
        do_sample=False,
        num_beams=1,
        max_new_tokens=steps,
        min_new_tokens=steps,
        eos_token_id=None,
        pad_token_id=0,
        suppress_tokens=list(never) or None,
    )
    # Some models' own generate() returns more than the tokens.
    found: torch.Tensor = getattr(made, "sequences", made)
    return found

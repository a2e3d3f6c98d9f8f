"""Mixtures of experts, as transformers writes them, small and with random weights."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from torch.export import Dim

from tests.harness import Inputs

from .example import Example, tokens

_COMMON = {
    "vocab_size": 99,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "use_cache": False,
    "bos_token_id": None,
    "eos_token_id": None,
}
_ROUTED = {"num_experts_per_tok": 2, "moe_intermediate_size": 24}
_SHARED = {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1, **_ROUTED}

FAMILIES: dict[str, dict[str, Any]] = {
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen3_moe": {"num_experts": 4, "head_dim": 8, **_ROUTED},
    "deepseek_v3": {
        "n_group": 2,
        "topk_group": 1,
        "q_lora_rank": 16,
        "kv_lora_rank": 16,
        "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 8,
        "v_head_dim": 8,
        "num_key_value_heads": 4,
        **_SHARED,
    },
    "granitemoe": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "glm4_moe": {"n_group": 1, "topk_group": 1, "head_dim": 8, **_SHARED},
    "olmoe": {"num_experts": 4, "num_experts_per_tok": 2},
    "gpt_oss": {
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "head_dim": 8,
        "sliding_window": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    },
}


def mixture(family: str, experts: int | None = None) -> Example:
    """A decoder; batch and sequence vary. Two tokens leave half of four experts without one."""
    settings = {**_COMMON, **FAMILIES[family]}
    for name in ("num_local_experts", "num_experts", "n_routed_experts"):
        if experts is not None and name in settings:
            settings[name] = experts
    torch.manual_seed(5)
    config = transformers.AutoConfig.for_model(family, **settings)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()

    def inputs(batch: int, length: int) -> Inputs:
        ids = tokens(batch, length)
        return Inputs((), {"input_ids": ids, "attention_mask": torch.ones_like(ids)})

    shape = {0: Dim("batch", min=1, max=64), 1: Dim("sequence", min=2, max=64)}
    shapes = {"input_ids": shape, "attention_mask": shape}
    sizes = ((3, 5), (1, 12), (1, 2))
    return Example(model, inputs(2, 7), shapes, [inputs(*each) for each in sizes])


class LoopOverExperts(torch.nn.Module):
    """The mixture of experts written as a loop: what each expert's tokens are, and their sum."""

    def __init__(self, experts: int, width: int, inner: int, chosen: int) -> None:
        super().__init__()
        self.router = torch.nn.Linear(width, experts, bias=False)
        self.up = torch.nn.Parameter(torch.randn(experts, inner, width) * width**-0.5)
        self.down = torch.nn.Parameter(torch.randn(experts, width, inner) * inner**-0.5)
        self.chosen = chosen

    def routed(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights, experts = self.router(x).softmax(-1).topk(self.chosen, -1)
        return weights / weights.sum(-1, keepdim=True), experts

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights, experts = self.routed(x)
        result = torch.zeros_like(x)
        for expert in range(self.up.shape[0]):
            rows, places = torch.where(experts == expert)
            hidden = torch.nn.functional.silu(x[rows] @ self.up[expert].t())
            part = hidden @ self.down[expert].t() * weights[rows, places, None]
            result = result.index_add(0, rows, part)
        return result


class GroupedExperts(LoopOverExperts):
    """The same with the tokens sorted by expert and grouped products, as transformers 5 does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights, experts = self.routed(x)
        order = experts.flatten().argsort()
        rows = order // self.chosen
        counts = torch.histc(
            experts.flatten().float(), self.up.shape[0], min=0, max=self.up.shape[0] - 1
        )
        ends = counts.cumsum(0).to(torch.int32)
        product = torch.ops.transformers.grouped_mm_fallback
        hidden = torch.nn.functional.silu(product(x[rows], self.up.transpose(1, 2), ends))
        part = product(hidden, self.down.transpose(1, 2), ends) * weights.flatten()[order, None]
        return torch.zeros_like(x).index_add(0, rows, part)

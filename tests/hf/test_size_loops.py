"""Decoders whose Python code goes through sequences and tokens one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.evaluation.greedy import greedy
from tests.architectures.tiny import PROFILES, tiny_config
from tests.harness.rotation import long_test

from .checkpoints import saved


@long_test(3)
def test_tokens_that_each_query_selects(tmp_path: Path) -> None:
    """Qwen4-Exp's attention selects blocks of keys for each query, as many as there are."""
    if not hasattr(transformers, "Qwen4ExpForCausalLM"):
        pytest.skip("transformers has no Qwen4-Exp")
    torch.manual_seed(0)
    config = tiny_config("qwen4_exp_text", PROFILES[0])
    # Of few heads, many blocks have a score of exactly 0, and any of them may be selected.
    config.indexer_n_heads = 16
    model = transformers.Qwen4ExpForCausalLM(config).eval()
    report = sardonyx.hf.export(saved(model, tmp_path / "model"), tmp_path / "out")
    assert report.parts[0].inputs["input_ids"] == ["batch_size", "sequence_length"]
    loaded = sardonyx.hf.load(tmp_path / "out")
    for rows, length in ((2, 9), (1, 1), (1, 2), (3, 5)):
        ids = torch.randint(3, 100, (rows, length), generator=torch.Generator().manual_seed(1))
        mask = torch.ones_like(ids)
        if rows > 1:
            mask[1, :3] = 0
        assert torch.equal(
            loaded.generate(ids, mask, max_new_tokens=12), greedy(model, ids, mask, 12)
        )

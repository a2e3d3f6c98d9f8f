"""Weights that no checkpoint has, and the files in which they are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from transformers import MarianConfig, MarianMTModel

from sardonyx.hf.checkpoints.derived_weights import kept
from sardonyx.hf.checkpoints.uninitialized_weights import initial_values


def test_tables_are_computed_and_what_is_drawn_at_random_is_not() -> None:
    config = MarianConfig(
        vocab_size=40,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        max_position_embeddings=20,
        pad_token_id=39,
    )
    model = MarianMTModel(config)
    table, drawn = "model.encoder.embed_positions.weight", "model.shared.weight"
    model._keys_to_ignore_on_load_missing = [table, drawn]
    before = torch.random.get_rng_state()

    found = initial_values(model, [table, drawn, "model.decoder.embed_positions.weight"])

    assert list(found) == [table]
    assert torch.equal(found[table], model.state_dict()[table])
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_full_disk_is_the_systems_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(OSError, match="No space left"):
        kept({"a": torch.ones(2)}, tmp_path / "computed" / "0.safetensors")

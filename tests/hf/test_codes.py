"""Models whose tokens are frames of several codes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

import sardonyx

from .checkpoints import saved


def _speaker() -> torch.nn.Module:
    torch.manual_seed(0)
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8}
    sizes = {"num_hidden_layers": 1, "hidden_size": 16, "intermediate_size": 24, **heads}
    crossing = {"cross_hidden_size": 16, "cross_num_attention_heads": 2, "cross_head_dim": 8}
    config = transformers.DiaConfig(
        encoder_config={**sizes, "num_key_value_heads": 2, "vocab_size": 100},
        decoder_config={
            **sizes, **crossing, "cross_num_key_value_heads": 2, "vocab_size": 40,
            "num_channels": 5, "pad_token_id": 37, "eos_token_id": 38, "bos_token_id": 39,
        },
        delay_pattern=[0, 1, 2, 3, 4],
    )  # fmt: skip
    return transformers.DiaForConditionalGeneration(config).eval()


def test_an_encoder_with_a_decoder_of_frames(tmp_path: Path) -> None:
    folder = saved(_speaker(), tmp_path / "speaker")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    _, first, later, merged = report.parts
    for part in (first, later, merged):
        assert part.inputs["input_ids"][2:] == [5]
    assert (report.verified["tokens"], report.verified["equal"]) == (40, 40)
    ids = torch.tensor([[11, 42, 7]])
    frames = sardonyx.hf.load(tmp_path / "out").generate(ids, torch.ones_like(ids), 4)
    assert frames.shape == (1, 5, 5)
    assert frames[0, 0].tolist() == [39] * 5


def _listener() -> torch.nn.Module:
    torch.manual_seed(0)
    codec = {
        "model_type": "mimi", "hidden_size": 16, "num_filters": 4, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 16,
        "codebook_size": 16, "codebook_dim": 8, "vector_quantization_hidden_dimension": 8,
        "upsample_groups": 16,
    }  # fmt: skip
    config = transformers.KyutaiSpeechToTextConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, head_dim=8, ffn_dim=24,
        vocab_size=100, num_codebooks=3, codebook_vocab_size=17, audio_bos_token_id=16,
        audio_pad_token_id=150, pad_token_id=3, bos_token_id=99, codec_config=codec,
    )  # fmt: skip
    return transformers.KyutaiSpeechToTextForConditionalGeneration(config).eval()


def test_a_decoder_of_frames_that_are_given(tmp_path: Path) -> None:
    """A token of the text, and the codes of the sound that is heard then."""
    folder = saved(_listener(), tmp_path / "listener")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    (decoder,) = report.parts
    assert decoder.inputs["input_ids"] == ["batch_size", "sequence_length", 4]
    assert (report.verified["tokens"], report.verified["equal"]) == (40, 40)
    loaded = sardonyx.hf.load(tmp_path / "out")
    with pytest.raises(sardonyx.UsageError, match="frame of codes"):
        loaded.generate(torch.ones(1, 2, 4, dtype=torch.int64))


def test_codes_that_a_model_has_as_rows_beside_each_other(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.MusicgenDecoderConfig(
        vocab_size=40, max_position_embeddings=64, num_hidden_layers=1, ffn_dim=24, hidden_size=16,
        num_attention_heads=2, num_codebooks=3, pad_token_id=39, bos_token_id=39,
    )  # fmt: skip
    folder = saved(transformers.MusicgenForCausalLM(config).eval(), tmp_path / "music")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    (decoder,) = report.parts
    assert report.task == "text-generation-with-past"
    assert decoder.inputs["input_ids"] == ["batch_size", "sequence_length", 3]
    assert (report.verified["tokens"], report.verified["equal"]) == (40, 40)

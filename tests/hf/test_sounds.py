"""Texts that sounds stand in."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.base.media import SOUNDS
from sardonyx.hf.base.parts import Part
from sardonyx.hf.base.tasks import task_named
from sardonyx.hf.components.multimodal import MediumEncoder
from sardonyx.hf.conversion.graphs import ExportTarget, captured
from sardonyx.hf.inputs.input_search import accepted_example

from .checkpoints import saved


def _listener() -> torch.nn.Module:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {"model_type": "qwen2", **sizes, "intermediate_size": 24, "num_key_value_heads": 1}
    sound = {"intermediate_size": 24, "num_mel_bins": 8, "max_source_positions": 12}
    config = transformers.AudioFlamingo3Config(
        audio_config={"model_type": "audioflamingo3_encoder", **sizes, **sound},
        text_config={**text, "vocab_size": 100}, audio_token_id=3,
    )  # fmt: skip
    return transformers.AudioFlamingo3ForConditionalGeneration(config).eval()


def test_sounds_are_a_part_of_their_own(tmp_path: Path) -> None:
    folder = saved(_listener(), tmp_path / "listener")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    sounds, tokens, decoder = report.parts
    assert [part.file for part in report.parts] == [
        "audio_encoder.onnx", "embed_tokens.onnx", "decoder_model_merged.onnx"
    ]  # fmt: skip
    assert sounds.inputs == {
        "input_features": ["batch_size", 8, 24], "input_features_mask": ["batch_size", 24]
    }  # fmt: skip
    assert list(sounds.outputs) == ["audio_features"]
    assert list(tokens.outputs) == ["inputs_embeds"]
    assert "inputs_embeds" in decoder.inputs
    # After a text alone, and after one with sounds.
    assert (report.verified["tokens"], report.verified["equal"]) == (80, 80)


def test_padded_sounds_take_fewer_places(tmp_path: Path) -> None:
    model = _listener()
    folder = saved(model, tmp_path / "listener")
    sardonyx.hf.export(folder, tmp_path / "out")
    example, inputs, _ = accepted_example(
        model, model.config, task_named("text2text-generation")[0], SOUNDS
    )
    row = example.make(1, 12)
    row["input_features_mask"][:, 16:] = 0
    wanted = model.get_audio_features(row["input_features"], row["input_features_mask"])
    loaded = sardonyx.hf.load(tmp_path / "out")
    sound = {name: row[name] for name in ("input_features", "input_features_mask")}
    features = loaded("audio_encoder", **sound)["audio_features"]
    assert features.shape[0] < int((inputs["input_ids"][0] == 3).sum())
    torch.testing.assert_close(features, wanted.pooler_output, rtol=1e-4, atol=1e-5)
    ids = torch.tensor([[3] * features.shape[0] + [41, 42]])
    with torch.no_grad():
        logits = model(input_ids=ids, **sound).logits
    made = loaded.generate(ids, max_new_tokens=1, **sound)
    assert made[0, -1] == logits[0, -1].index_fill(0, torch.tensor([3]), -torch.inf).argmax()


class _Counting(torch.nn.Module):
    """Goes over windows of two, as many as the mask has."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def get_audio_features(
        self, input_features: torch.Tensor, input_features_mask: torch.Tensor
    ) -> torch.Tensor:
        windows = [2] * (int(input_features_mask.sum()) // 2)
        return torch.cat([self.layer(each) for each in input_features.split(windows, dim=1)], 1)


@pytest.mark.parametrize("has_unpadded", [True, False])
def test_what_counts_by_a_mask_takes_no_padding(has_unpadded: bool) -> None:
    model = _Counting()
    mask = {"input_features_mask": torch.ones(1, 6, dtype=torch.int64)}
    sound = {"input_features": torch.randn(1, 6, 4)}
    dims = {"input_features": {1: "feature_length"}, "input_features_mask": {1: "feature_length"}}
    outputs = (SOUNDS.features,)
    whole = Part(
        SOUNDS.part, MediumEncoder(model, SOUNDS, mask), sound, {"input_features": {}}, outputs,
        known=mask,
    )  # fmt: skip
    part = Part(
        SOUNDS.part, MediumEncoder(model, SOUNDS, {}), sound | mask, dims, outputs,
        unpadded=whole if has_unpadded else None,
    )  # fmt: skip
    if not has_unpadded:
        with pytest.raises(sardonyx.OnnxExporterError):
            captured(part, ExportTarget())
        return
    taken, program, _ = captured(part, ExportTarget())
    assert taken is whole
    (got,) = program.call_reference({"input_features": sound["input_features"]})
    torch.testing.assert_close(
        torch.as_tensor(got), model.get_audio_features(**sound, **mask).reshape(-1, 3)
    )


class _OfTwoTexts(torch.nn.Module):
    """Features stand in the text; another text, as the query of an encoder, has its own length."""

    def __init__(self, config: transformers.LlavaConfig) -> None:
        super().__init__()
        self.config = config

    def get_image_features(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return pixel_values.flatten(1)[:, :32].reshape(-1, 4, 8)

    def forward(
        self, input_ids: torch.Tensor, pixel_values: torch.Tensor, qformer_input_ids: torch.Tensor
    ) -> torch.Tensor:
        r"""
        qformer_input_ids (`torch.LongTensor` of shape `(batch_size, sequence_length)`):
            Asks for what is to be seen.
        """
        if not bool((input_ids == 3).sum() == 4 * pixel_values.shape[0]):
            raise ValueError("places and features differ")
        return input_ids.sum() + qformer_input_ids.sum()


def test_a_text_beside_has_a_length_of_its_own() -> None:
    text = transformers.LlamaConfig(vocab_size=100)
    vision = transformers.CLIPVisionConfig(image_size=16)
    config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_id=3)
    task, _ = task_named("image-text-to-text")
    example, inputs, _ = accepted_example(_OfTwoTexts(config), config, task)
    assert inputs["input_ids"].shape[1] == inputs["qformer_input_ids"].shape[1] + 4
    assert example.dims["input_ids"][1] == "sequence_length"
    assert example.dims["qformer_input_ids"][1] == "text_length"


def test_what_takes_sounds_alone_goes_without_none(tmp_path: Path) -> None:
    """Recognition by CTC has no text that sounds could be left out of."""
    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2,
        vocab_size=20, conv_dim=(8, 8), conv_stride=(5, 4), conv_kernel=(10, 8),
        num_feat_extract_layers=2, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2,
    )  # fmt: skip
    folder = saved(transformers.Wav2Vec2ForCTC(config).eval(), tmp_path / "ctc")
    report = sardonyx.hf.export(folder, tmp_path / "out")
    assert list(report.parts[0].inputs) == ["input_values"]
    assert not any("sounds" in note for note in report.notes)

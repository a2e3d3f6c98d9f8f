"""Models that are several, of which one reads and writes."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers

import sardonyx
from sardonyx.hf.base.progress import Progress
from sardonyx.hf.base.tasks import choose
from sardonyx.hf.checkpoints.building import build, load
from sardonyx.hf.checkpoints.checkpoint import read_checkpoint
from sardonyx.hf.checkpoints.formats import weights_of
from sardonyx.hf.components.composites import part_that_runs, run_as_encoder, runs
from tests.architectures.tiny import PROFILES, tiny_config


def test_what_has_no_forward_is_exported_as_its_part_that_has(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = tiny_config("qwen2_5_omni", PROFILES[1])
    whole = transformers.Qwen2_5OmniForConditionalGeneration(config)
    whole.save_pretrained(tmp_path / "omni")
    checkpoint, notes = part_that_runs(read_checkpoint(tmp_path / "omni"))
    assert checkpoint.part == "thinker"
    assert notes == [
        "Qwen2_5OmniForConditionalGeneration has no forward(): its part 'thinker' is exported"
    ]
    model_class = choose(checkpoint.config, None).model_class
    model = build(checkpoint, model_class)
    placed = weights_of(checkpoint).placed(model, tmp_path, Progress())
    assert not placed.unused
    assert placed.places.keys() == model.state_dict().keys()
    loaded = load(checkpoint, model_class)
    for name, weight in loaded.state_dict().items():
        torch.testing.assert_close(weight, whole.thinker.state_dict()[name])


def test_what_has_a_forward_is_whole(tmp_path: Path) -> None:
    config = tiny_config("llama", PROFILES[0])
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path)
    checkpoint = read_checkpoint(tmp_path)
    assert part_that_runs(checkpoint) == (checkpoint, [])


def test_what_encodes_and_has_no_forward_is_exported_as_its_encode(tmp_path: Path) -> None:
    config = tiny_config("glm_image_vqmodel", PROFILES[0])
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "codec")
    report = sardonyx.hf.export(tmp_path / "codec", tmp_path / "out", verify=True)
    assert "GlmImageVQVAE has no forward(): its encode() is exported" in report.notes
    width = config.latent_channels
    high, wide = "patches_high", "patches_wide"
    assert report.parts[0].inputs == {"hidden_states": ["batch_size", width, high, wide]}
    assert {"image_tokens", "quantized_last_hidden_state"} <= report.parts[0].outputs.keys()
    assert report.verified["different"] == []


def test_a_part_may_be_of_a_class_that_no_task_knows(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_layers": 1, "num_heads": 2, "block_size": 32}
    text = {**sizes, "input_vocab_size": 40, "output_vocab_size": 40}
    fine = {**text, "n_codes_total": 3, "n_codes_given": 1}
    codec = {"model_type": "encodec", "num_filters": 2, "hidden_size": 8, "codebook_size": 8,
             "codebook_dim": 8, "upsampling_ratios": [2], "num_lstm_layers": 1}  # fmt: skip
    config = transformers.BarkConfig(
        semantic_config=text, coarse_acoustics_config=text, fine_acoustics_config=fine,
        codec_config=codec,
    )  # fmt: skip
    transformers.BarkModel(config).save_pretrained(tmp_path / "speaker")
    report = sardonyx.hf.export(tmp_path / "speaker", tmp_path / "out", verify=True)
    assert report.task == "text-generation-with-past"
    assert "BarkModel has no forward(): its part 'semantic' is exported" in report.notes
    assert report.verified["different"] == []


class _Session:
    """What a tracker remembers of a video."""


class _Tracks(transformers.PreTrainedModel):
    """SAM 2's kind: follows objects through the frames of a video."""

    config_class = transformers.CLIPVisionConfig

    def __init__(self, config: transformers.CLIPVisionConfig) -> None:
        super().__init__(config)
        self.vision = torch.nn.Conv2d(3, 8, 4, 4)
        self.post_init()

    def get_image_features(self, pixel_values: torch.Tensor) -> dict[str, torch.Tensor]:
        found = self.vision(pixel_values)
        return {"features": found, "positions": found.mean(1)}

    def forward(self, session: _Session, frame: torch.Tensor | None = None) -> None:
        raise NotImplementedError


def test_what_takes_a_session_is_exported_as_its_encoder_of_images(tmp_path: Path) -> None:
    model = _Tracks(transformers.CLIPVisionConfig(image_size=32, patch_size=4))
    assert not runs(_Tracks)
    assert run_as_encoder(model) == [
        "_Tracks takes a _Session: its get_image_features() is exported"
    ]
    report = sardonyx.hf.export(model, tmp_path / "out", task="feature-extraction", verify=True)
    assert report.parts[0].inputs.keys() == {"pixel_values"}
    assert report.parts[0].outputs.keys() == {"features", "positions"}
    assert report.verified["different"] == []


def test_what_takes_tensors_runs() -> None:
    assert runs(transformers.Sam2Model)
    assert runs(transformers.LlamaForCausalLM)
    assert not runs(transformers.Sam2VideoModel)

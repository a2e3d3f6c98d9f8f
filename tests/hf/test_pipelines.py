"""Pipelines of diffusers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import sardonyx
from tests.models.example import unsettle


def pipeline(folder: Path) -> Path:
    """A small Stable Diffusion, whose parts are random."""
    diffusers: Any = pytest.importorskip("diffusers", reason="is no package that the tests need")
    torch.manual_seed(0)
    blocks = {"block_out_channels": (16, 32), "norm_num_groups": 8}
    models = {
        "unet": diffusers.UNet2DConditionModel(
            sample_size=16, layers_per_block=1, cross_attention_dim=32, attention_head_dim=8,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), **blocks,
        ),
        "vae": diffusers.AutoencoderKL(
            down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
            **blocks,
        ),
        "text_encoder": transformers.CLIPTextModel(
            transformers.CLIPTextConfig(
                hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=2,
                vocab_size=100, bos_token_id=0, eos_token_id=2,
            )
        ),
    }  # fmt: skip
    index: dict[str, Any] = {"_class_name": "StableDiffusionPipeline"}
    for name, model in models.items():
        with torch.no_grad():
            unsettle(model)
        model.save_pretrained(folder / name)
        library = type(model).__module__.partition(".")[0]
        index[name] = [library, type(model).__name__]
    diffusers.DDIMScheduler().save_pretrained(folder / "scheduler")
    index["scheduler"] = ["diffusers", "DDIMScheduler"]
    index["safety_checker"] = [None, None]
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder


def test_the_installed_diffusers_has_what_pipelines_need() -> None:
    from sardonyx._diffusers_private.features import features

    pytest.importorskip("diffusers", reason="is no package that the tests need")
    assert [(each.available, each.reason) for each in features()] == [(True, "")]


def test_the_parts_have_optimum_s_files_and_names(tmp_path: Path) -> None:
    folder = pipeline(tmp_path / "pipeline")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    parts = {part.file: (list(part.inputs), list(part.outputs)) for part in report.parts}
    assert parts == {
        "unet/model.onnx": (["sample", "timestep", "encoder_hidden_states"], ["out_sample"]),
        "vae_encoder/model.onnx": (["sample"], ["latent_parameters"]),
        "vae_decoder/model.onnx": (["latent_sample"], ["sample"]),
        "text_encoder/model.onnx": (["input_ids"], ["last_hidden_state", "pooler_output"]),
    }
    assert report.verified["outputs"] == 10
    for name in ("model_index.json", "scheduler/scheduler_config.json", "unet/config.json"):
        assert (tmp_path / "out" / name).is_file()
    (folder / "vae" / "diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(sardonyx.ProgramError, match=r"SX2001.*vae has no weights"):
        sardonyx.hf.export(folder, tmp_path / "broken")
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize("text", ["no JSON", "[]", "{}"])
def test_an_index_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text(text)
    with pytest.raises(sardonyx.ProgramError, match=r"SX2001.*no index of a pipeline"):
        sardonyx.hf.export(tmp_path, tmp_path / "out")
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*no --task"):
        sardonyx.hf.export(tmp_path, tmp_path / "out", task="text-to-audio")

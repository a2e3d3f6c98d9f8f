"""Images of the size that the user asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

import sardonyx.hf
from sardonyx.hf.inputs.image_inputs import of_size, pictures

from .checkpoints import saved


@pytest.mark.parametrize(("side", "patches"), [(56, 4), (90, 6), (None, 16)])
def test_patches_of_all_images(side: int | None, patches: int) -> None:
    config = transformers.Qwen2VLConfig()  # patches of 14, of which 2 by 2 are merged
    with of_size(side):
        example = next(iter(pictures({"pixel_values", "image_grid_thw"}, config)))
        made = example.make(2, 1)
        grid = example.known(2)["image_grid_thw"]
    assert made["pixel_values"].shape[0] == 2 * patches**2
    assert grid.tolist() == [[1, patches, patches]] * 2


def test_whole_images(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.Dinov2Config(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=4, image_size=56, patch_size=14
    )
    folder = saved(transformers.Dinov2Model(config).eval(), tmp_path / "dino")
    report = sardonyx.hf.export(folder, tmp_path / "out", image_size=28, verify=True)
    assert report.verified["different"] == []
    assert "[1, 3, 28, 28]" in report.speed["of"]


def test_what_the_model_does_not_take_is_refused(tmp_path: Path) -> None:
    config = transformers.ViTConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4,
        image_size=32, patch_size=16,
    )  # fmt: skip
    folder = saved(transformers.ViTModel(config).eval(), tmp_path / "vit")
    for size, code in ((48, "SX2007"), (0, "SX1001")):
        with pytest.raises(sardonyx.errors.OnnxExporterError) as caught:
            sardonyx.hf.export(folder, tmp_path / "out", image_size=size)
        assert caught.value.diagnostics[0].code == code
        assert not (tmp_path / "out").exists()

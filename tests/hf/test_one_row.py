"""Models whose code takes one row and no other number of them."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import PretrainedConfig, PreTrainedModel

import sardonyx
from sardonyx.hf.base.tasks import task_named
from sardonyx.hf.inputs.input_search import accepted_example


class _Config(PretrainedConfig):
    model_type = "of_one_row"
    vocab_size = 50


class _OneRow(PreTrainedModel):
    """TVP's kind: what it adds is seen as of as many rows as the batch has."""

    config_class = _Config

    def __init__(self, config: _Config) -> None:
        super().__init__(config)
        self.embed = torch.nn.Embedding(50, 8)
        self.post_init()

    def forward(self, input_ids: torch.Tensor) -> dict[str, torch.Tensor]:
        of_rows = self.embed.weight[0].view(len(input_ids), 1, 8)
        return {"last_hidden_state": self.embed(input_ids) + of_rows}


def test_examples_are_of_one_row_whatever_the_batch() -> None:
    task, _ = task_named("feature-extraction")
    example, inputs, _ = accepted_example(_OneRow(_Config()), _Config(), task)
    assert example.one_row
    assert inputs["input_ids"].shape == (1, 12)
    assert example.make(3, 17)["input_ids"].shape == (1, 17)
    assert example.dims == {"input_ids": {1: "sequence_length"}}


def test_they_are_exported_for_one_row_with_a_note(tmp_path: Path) -> None:
    model = _OneRow(_Config())
    report = sardonyx.hf.export(model, tmp_path / "out", verify=True)
    assert report.parts[0].inputs == {"input_ids": [1, "sequence_length"]}
    assert "the model's own code takes the number of rows for a constant" in "".join(report.notes)
    assert report.verified["different"] == []


class _RepeatsRows(_OneRow):
    """FastSpeech 2's kind: goes through its rows, and makes each as long as its tokens say."""

    def forward(self, input_ids: torch.Tensor) -> dict[str, torch.Tensor]:
        counts = input_ids % 3
        rows = torch.zeros(len(input_ids), int(counts.sum(1).max()), 8)
        for i, (row, count) in enumerate(zip(self.embed(input_ids), counts, strict=True)):
            repeated = torch.repeat_interleave(row, count, dim=0)
            rows[i, : len(repeated)] = repeated
        return {"last_hidden_state": rows}


def test_a_model_that_goes_through_its_rows_is_exported_for_one(tmp_path: Path) -> None:
    model = _RepeatsRows(_Config())
    report = sardonyx.hf.export(model, tmp_path / "out", verify=True)
    assert report.parts[0].inputs == {"input_ids": [1, "sequence_length"]}
    assert "the model could be captured for one row alone" in "".join(report.notes)
    assert report.verified["different"] == []


class _ImageConfig(PretrainedConfig):
    model_type = "of_parts_of_images"
    image_size = 32
    patch_size = 8
    num_channels = 3


class _PartsOfImages(PreTrainedModel):
    """ViLT's kind: the parts of an image that are no padding, by a mask of its own."""

    config_class = _ImageConfig
    main_input_name = "pixel_values"

    def __init__(self, config: _ImageConfig) -> None:
        super().__init__(config)
        self.patches = torch.nn.Conv2d(3, 6, 8, 8)
        self.places = torch.nn.Parameter(torch.randn(1, 6, 4, 4))
        self.post_init()

    def forward(self, pixel_values: torch.Tensor) -> dict[str, torch.Tensor]:
        x = self.patches(pixel_values)
        mask = torch.ones(len(x), 1, *x.shape[2:])
        heights, widths = mask[:, 0].sum(dim=1)[:, 0].long(), mask[:, 0].sum(dim=2)[:, 0].long()
        places = [
            torch.nn.functional.interpolate(self.places, size=(height, width), mode="bilinear")
            for height, width in zip(heights, widths, strict=True)
        ]
        chosen = mask.flatten(1).nonzero()
        rows = [chosen[chosen[:, 0] == row] for row in chosen[:, 0].unique()]
        x = (x + torch.cat(places)).flatten(2).transpose(1, 2)
        states = torch.stack([x[row[:, 0], row[:, 1]] for row in rows])
        return {"last_hidden_state": states}


def test_images_have_one_size_where_their_parts_are_gone_through(tmp_path: Path) -> None:
    model = _PartsOfImages(_ImageConfig())
    report = sardonyx.hf.export(model, tmp_path / "out", verify=True)
    assert report.parts[0].inputs == {"pixel_values": [1, 3, 32, 32]}
    notes = "".join(report.notes)
    assert "for one row alone" in notes
    assert "for images of one size alone" in notes
    assert report.verified["different"] == []

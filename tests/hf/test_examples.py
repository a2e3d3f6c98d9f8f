"""Inputs that are made of a configuration and of what forward() takes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from transformers import PretrainedConfig

from sardonyx.hf.base.example import BATCH, noise
from sardonyx.hf.base.tasks import task_named
from sardonyx.hf.inputs.docstring_inputs import asked_for
from sardonyx.hf.inputs.examples import examples


class _Inner(PretrainedConfig):
    def __init__(self, **settings: Any) -> None:
        super().__init__()
        for name, value in settings.items():
            setattr(self, name, value)


def _shapes(model: torch.nn.Module, config: Any) -> list[dict[str, tuple[int, ...]]]:
    return [
        {name: tuple(tensor.shape) for name, tensor in example.make(2, 12).items()}
        for example in examples(model, config)
    ]


def test_spectra_of_every_number_of_bins_that_a_part_tells() -> None:
    class Model(torch.nn.Module):
        def forward(self, input_features: torch.Tensor) -> torch.Tensor:
            return input_features

    config = _Inner(num_mel_bins=80, speech=_Inner(feature_projection_input_dim=160))

    found = [each["input_features"] for each in _shapes(Model(), config)]

    pictures = [(2, 1, 64, 80), (2, 1, 64, 160)]
    assert found == [(2, 12, 80), (2, 80, 12), (2, 12, 160), (2, 160, 12), *pictures]


class _Images(torch.nn.Module):
    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return pixel_values


def _images_beside(name: str) -> torch.nn.Module:
    """A model that takes images, and may be given what is called so."""

    def forward(**given: torch.Tensor) -> torch.Tensor:
        return given["pixel_values"]

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    told = [inspect.Parameter("pixel_values", kind), inspect.Parameter(name, kind, default=None)]
    # What inspect reads, of which mypy knows nothing.
    forward.__signature__ = inspect.Signature(told)  # type: ignore[attr-defined]
    model = torch.nn.Module()
    model.forward = forward
    return model


def test_pairs_of_images_come_last() -> None:
    found = [each["pixel_values"] for each in _shapes(_Images(), _Inner(image_size=32))]

    assert found[0] == (2, 3, 32, 32)
    assert found[-2] == (2, 2, 3, 32, 32)


def test_patches_in_a_row_have_the_sizes_of_their_images_beside_them() -> None:
    example = next(examples(_images_beside("target_sizes"), _Inner(image_size=64, patch_size=8)))

    assert example.make(2, 12)["pixel_values"].shape == (1, 3, 8, 2 * 8 * 8 * 8)
    assert example.known(2)["target_sizes"].tolist() == [[8, 8], [8, 8]]


def test_patches_may_have_nothing_beside_them() -> None:
    found = [each["pixel_values"] for each in _shapes(_Images(), _Inner(patch_size=8))]

    assert found[-1] == (2, 16, 3 * 8 * 8)


def test_patches_of_frames_have_their_channels_last() -> None:
    found = [
        each["pixel_values"]
        for each in _shapes(_Images(), _Inner(patch_size=8, temporal_patch_size=2))
    ]

    assert found[-1] == (2 * 4, 2, 8, 8, 3)


def test_a_grid_may_have_no_frames() -> None:
    model, config = _images_beside("image_grid_hw"), _Inner(image_size=64, patch_size=8)
    example = next(examples(model, config))

    assert example.make(2, 12)["pixel_values"].shape == (2 * 8 * 8, 3 * 8 * 8)
    assert example.known(2)["image_grid_hw"].tolist() == [[8, 8], [8, 8]]


def test_images_of_a_text_with_places_for_videos_have_frames() -> None:
    config = _Inner(image_size=32, video_token_id=3)

    assert _shapes(_Images(), config)[0]["pixel_values"] == (2, 4, 3, 32, 32)
    assert _shapes(_images_beside("pixel_values_videos"), config)[0]["pixel_values"] == (
        2,
        3,
        32,
        32,
    )


def test_patches_that_are_merged_may_lie_together() -> None:
    config = _Inner(image_size=64, patch_size=8, spatial_merge_size=2)
    found = [each["pixel_values"] for each in _shapes(_images_beside("image_grid_thw"), config)]

    assert (2 * 4 * 4, 16, 16, 3) in found


def test_tokens_of_a_vocabulary_that_any_part_tells() -> None:
    class Model(torch.nn.Module):
        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            return input_ids

    example = next(examples(Model(), _Inner(model_config=_Inner(vocab_size=10))))

    assert example.make(2, 50)["input_ids"].max() < 10


def test_a_mask_of_what_comes_of_a_sound_is_left_out_in_the_end() -> None:
    class Model(torch.nn.Module):
        def forward(
            self, input_features: torch.Tensor, attention_mask: torch.Tensor | None = None
        ) -> torch.Tensor:
            return input_features

    found = [each for each in _shapes(Model(), _Inner(num_mel_bins=80)) if len(each) == 1]

    assert [each["input_features"] for each in found[:2]] == [(2, 12, 80), (2, 80, 12)]


def test_points_stand_beside_an_image() -> None:
    class Model(torch.nn.Module):
        def forward(
            self,
            pixel_values: torch.Tensor,
            input_points: torch.Tensor | None = None,
            input_labels: torch.Tensor | None = None,
        ) -> torch.Tensor:
            return pixel_values

    example = next(examples(Model(), _Inner(image_size=64)))

    found = {name: tuple(tensor.shape) for name, tensor in example.make(2, 12).items()}
    assert found == {
        "pixel_values": (2, 3, 64, 64),
        "input_points": (2, 2, 3, 2),
        "input_labels": (2, 2, 3),
    }
    assert example.dims["input_points"][1] == "point_batch_size"


class _OfBoth(torch.nn.Module):
    main_input_name = "input_ids"

    def forward(
        self, input_ids: torch.Tensor, pixel_values: torch.Tensor | None = None
    ) -> torch.Tensor:
        return input_ids


@pytest.mark.parametrize("task", ["image-text-to-text", "image-classification"])
def test_what_looks_at_images_is_given_some(task: str) -> None:
    config = _Inner(image_size=32, vocab_size=100)
    found = examples(_OfBoth(), config, task_named(task)[0])

    assert all("pixel_values" in example.dims for example in found)
    assert any("pixel_values" not in shapes for shapes in _shapes(_OfBoth(), config))


class _OfRegions(torch.nn.Module):
    def forward(self, x: torch.Tensor, visual_feats: torch.Tensor | None = None) -> torch.Tensor:
        """
        visual_feats (`torch.FloatTensor` of shape `(batch_size, num_visual_features, feat_dim)`):
            What is seen in each region.
        """
        if visual_feats is None:
            raise ValueError("`visual_feats` cannot be `None`")
        return visual_feats


def test_what_a_model_asks_for_is_made_as_its_documentation_says() -> None:
    model, config, example = _OfRegions(), _Inner(feat_dim=6), noise("x", (4,), {0: BATCH})
    with pytest.raises(ValueError, match="cannot be") as raised:
        model(**example.make(2, 12))

    better = asked_for(example, raised.value, model, config)

    assert better is not None
    assert model(**better.make(3, 12)).shape == (3, 8, 6)
    assert asked_for(better, raised.value, model, config) is None


class _OfVideosWithSound(torch.nn.Module):
    def forward(
        self,
        input_values: torch.Tensor,
        pixel_values_videos: torch.Tensor | None = None,
        padding_mask_videos: torch.Tensor | None = None,
    ) -> torch.Tensor:
        # As the model has it, whose signature says None and whose code needs a tensor.
        return input_values.mean() + pixel_values_videos.shape[1]  # type: ignore[union-attr]


def test_what_a_model_reads_without_a_check_is_made_too() -> None:
    model, config = _OfVideosWithSound(), PretrainedConfig()
    example = noise("input_values", (1, 3200), {0: BATCH})
    inputs = example.make(2, 12)
    with pytest.raises(AttributeError) as raised:
        model(**inputs)
    better = asked_for(example, raised.value, model, config)
    assert better is not None
    assert better.make(2, 12).keys() == {"input_values", "pixel_values_videos"}
    model(**better.make(2, 12))


def test_nothing_known_of_the_time_has_no_width() -> None:
    class Model(torch.nn.Module):
        def forward(
            self, past_values: torch.Tensor, past_time_features: torch.Tensor
        ) -> torch.Tensor:
            return past_values

    example = next(examples(Model(), _Inner(context_length=5, lags_sequence=[1])))

    assert example.make(2, 12)["past_time_features"].shape == (2, 6, 0)


def test_images_of_any_size_are_smaller_than_the_largest() -> None:
    found = [
        each["pixel_values"]
        for each in _shapes(_images_beside("image_sizes"), _Inner(image_size=1540))
    ]

    assert found[:2] == [(2, 3, 448, 448), (2, 3, 1540, 1540)]


def test_patches_that_are_pooled_before_the_model() -> None:
    config = _Inner(patch_size=4, pooling_kernel_size=3, model_patch_size=12)
    found = [each["pixel_values"] for each in _shapes(_images_beside("image_position_ids"), config)]

    assert found[:2] == [(2, 36, 3 * 4**2), (2, 36, 3 * 12**2)]

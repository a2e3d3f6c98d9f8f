"""Where images stand in a text."""

from __future__ import annotations

import torch
from transformers import PretrainedConfig

from sardonyx.hf.base.example import BATCH, LENGTH
from sardonyx.hf.base.tasks import task_named
from sardonyx.hf.inputs.input_search import accepted_example


class _Config(PretrainedConfig):
    image_size = 8
    vocab_size = 50
    latent_query_num = 3


class _ToldByAMask(torch.nn.Module):
    """Kosmos-2's kind: no token stands for an image."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(50, 64)

    def forward(
        self,
        input_ids: torch.Tensor,
        pixel_values: torch.Tensor,
        image_embeds_position_mask: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        image_embeds: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """
        image_embeds (`torch.FloatTensor` of shape `(batch_size, latent_query_num, hidden_size)`):
            What stands for the images.
        """
        features = pixel_values.flatten(1).reshape(len(pixel_values), 3, 64)
        found: torch.Tensor = self.embed(input_ids)
        assert image_embeds_position_mask is not None
        found[image_embeds_position_mask.bool()] = features.flatten(0, 1)
        return found


def test_a_mask_tells_them_as_many_as_the_documentation_says() -> None:
    task, _ = task_named("image-text-to-text")

    example, inputs, _ = accepted_example(_ToldByAMask(), _Config(), task)

    places = inputs["image_embeds_position_mask"]
    assert places[:, :3].eq(1).all()
    assert places[:, 3:].eq(0).all()
    assert places.shape == inputs["input_ids"].shape == inputs["attention_mask"].shape
    assert example.dims["image_embeds_position_mask"] == {0: BATCH, 1: LENGTH}

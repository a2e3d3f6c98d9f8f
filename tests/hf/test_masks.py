"""Masks that a model is given, or that transformers makes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from transformers.masking_utils import create_bidirectional_mask
from transformers.modeling_outputs import BaseModelOutput

import sardonyx
from sardonyx.hf.base.parts import Part, without_padding
from tests.harness.rotation import long_test


def test_no_mask_is_made_where_none_was_given(tmp_path: Path) -> None:
    """Informer's encoder has fewer states from layer to layer, and one mask for all."""
    torch.manual_seed(0)
    config = transformers.InformerConfig(
        prediction_length=4, context_length=8, num_time_features=1, lags_sequence=[1, 2],
        d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
    )  # fmt: skip
    model = transformers.InformerModel(config)
    model.eval().save_pretrained(tmp_path / "series")
    report = sardonyx.hf.export(tmp_path / "series", tmp_path / "out", verify=True)
    assert report.verified["different"] == []


class _Masked(torch.nn.Module):
    """Of sounds, with transformers' mask for the padding, and windows that are counted by it."""

    def __init__(self) -> None:
        super().__init__()
        self.config = transformers.BertConfig(hidden_size=4, num_attention_heads=1)
        self.layer = torch.nn.Linear(4, 3)

    def forward(
        self, input_features: torch.Tensor, input_features_mask: torch.Tensor
    ) -> BaseModelOutput:
        windows = [2] * (int(input_features_mask[0].sum()) // 2)
        mask = create_bidirectional_mask(self.config, input_features, None)
        assert mask is None
        states = [self.layer(each) for each in input_features.split(windows, dim=1)]
        return BaseModelOutput(last_hidden_state=torch.cat(states, 1))


@long_test(2)
def test_an_encoder_alone_that_counts_by_its_mask_takes_no_padding() -> None:
    from sardonyx.hf.base.tasks import ExportChoice, task_named
    from sardonyx.hf.components.architecture import whole_part
    from sardonyx.hf.conversion.graphs import ExportTarget, captured

    model = _Masked()
    model.config.num_mel_bins = 4
    chosen = ExportChoice(task_named("feature-extraction")[0], False, _Masked)
    part, program, _ = captured(whole_part(model, model.config, chosen), ExportTarget())
    assert list(part.inputs) == ["input_features"]
    assert list(part.known) == ["input_features_mask"]
    (got,) = program.call_reference(dict(part.inputs))
    wanted = model(part.inputs["input_features"][:1], part.known["input_features_mask"])
    torch.testing.assert_close(torch.as_tensor(got), wanted.last_hidden_state)


@pytest.mark.parametrize(("mask", "is_whole"), [([1, 1], True), ([1, 0], False)])
def test_only_a_mask_of_ones_says_that_nothing_is_padding(mask: list[int], is_whole: bool) -> None:
    inputs = {"values": torch.zeros(1, 2), "values_mask": torch.tensor([mask])}
    one = Part("model", torch.nn.Identity(), inputs, {"values": {1: "length"}}, ("values",))
    found = without_padding(one, {"values_mask"}, lambda _: torch.nn.Identity())
    assert (found is not None) is is_whole
    if found is not None:
        assert (list(found.inputs), list(found.known)) == (["values"], ["values_mask"])

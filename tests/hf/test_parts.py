"""What parts of models tell of themselves."""

from __future__ import annotations

import torch

from sardonyx.hf.base.parts import Part


def test_inputs_have_the_names_of_the_model() -> None:
    inputs = dict.fromkeys(("token_type_ids", "past_key_values.0.key"), torch.zeros(1))
    part = Part("model", torch.nn.Identity(), inputs, {}, ("logits",))
    said = "'inputs_token_type_ids', inputs_past_key_values_0_key, inputs_other"
    assert part.with_input_names(said) == "'token_type_ids', past_key_values.0.key, inputs_other"

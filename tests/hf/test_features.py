"""What stands for images and sounds in a text, of all that makers of it return."""

from __future__ import annotations

import types

import torch
from transformers.modeling_outputs import BaseModelOutputWithPooling

from sardonyx.hf.inputs.input_search import features_of


class Model(torch.nn.Module):
    """Llama 4's kind: what its encoder gives is projected where it is put into the text."""

    def __init__(self) -> None:
        super().__init__()
        self.multi_modal_projector = torch.nn.Linear(6, 4)


def test_rows_of_a_tensor_of_several_and_of_an_output() -> None:
    states = torch.randn(2, 3, 4)
    pooled = BaseModelOutputWithPooling(last_hidden_state=torch.zeros(2, 5, 6))
    pooled.pooler_output = [states[0], states[1]]
    for found in (states, [states[0], states[1]], pooled):
        assert torch.equal(features_of(Model(), found), states.reshape(6, 4))


def test_rows_that_the_model_projects_itself() -> None:
    model, states = Model(), torch.randn(2, 3, 6)
    found = features_of(model, BaseModelOutputWithPooling(last_hidden_state=states))
    torch.testing.assert_close(found, model.multi_modal_projector(states.reshape(6, 6)))


def test_rows_that_nothing_projects() -> None:
    states = torch.randn(2, 3, 4)
    found = features_of(torch.nn.Module(), BaseModelOutputWithPooling(last_hidden_state=states))
    assert torch.equal(found, states.reshape(6, 4))


def test_rows_that_are_added_to_layers_of_the_text() -> None:
    states = torch.randn(2, 3, 4)
    found = types.SimpleNamespace(
        pooler_output=None, last_hidden_state=None, deepstack_features=[(1, [*states])]
    )
    assert torch.equal(features_of(torch.nn.Module(), found), states.reshape(6, 4))

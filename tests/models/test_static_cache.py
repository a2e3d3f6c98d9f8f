"""A static key/value cache, updated in place, is inputs and outputs of the model."""

from __future__ import annotations

import copy

import pytest
import torch
import transformers
from transformers import StaticCache

from tests.harness import Inputs, Session, assert_exports, difference

LENGTH = 12


def decoder() -> transformers.PreTrainedModel:
    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
    )
    return transformers.LlamaForCausalLM(config).eval()


def filled(model: transformers.PreTrainedModel, ids: torch.Tensor) -> StaticCache:
    cache = StaticCache(model.config, max_cache_len=LENGTH)
    with torch.no_grad():
        model(input_ids=ids, past_key_values=cache, use_cache=True)
    return cache


def step(ids: torch.Tensor, position: int, cache: StaticCache) -> dict[str, object]:
    positions = torch.full_like(ids, position)
    return {"input_ids": ids, "position_ids": positions, "past_key_values": cache}


@pytest.mark.parametrize("opset", [18, 20, 24, 26])
def test_static_cache(opset: int) -> None:
    from sardonyx._transformers_private.registration import register_caches

    model = decoder()
    register_caches(model)
    prompt = torch.tensor([[1, 2, 3], [4, 5, 6]])
    cache = filled(model, prompt)
    token = torch.tensor([[7], [8]])
    exported = assert_exports(model, (), step(token, 3, copy.deepcopy(cache)), opset_version=opset)
    # A row side by side for each entry of the batch: TensorScatter, where there is one.
    scatters = [name for name in exported.operators if "Scatter" in name]
    assert scatters == ["TensorScatter" if opset >= 24 else "ScatterElements"] * 4
    generate(model, exported.session, cache, token)


def generate(
    model: transformers.PreTrainedModel, session: Session, cache: StaticCache, token: torch.Tensor
) -> None:
    """Token by token, the model's caches going back in, beside eager PyTorch's own."""
    state = {
        name: leaf.clone()
        for layer, parts in enumerate(cache.layers)
        for name, leaf in (
            (f"past_key_values.{layer}.key", parts.keys),
            (f"past_key_values.{layer}.value", parts.values),
            (f"past_key_values.{layer}.cumulative_length", parts.cumulative_length),
        )
    }
    eager = copy.deepcopy(cache)
    for position in range(3, LENGTH):
        with torch.no_grad():
            kwargs = Inputs((), step(token, position, eager)).kwargs
            want = model(**kwargs, use_cache=True).logits
        feed = {"input_ids": token, "position_ids": torch.full_like(token, position), **state}
        values = session.run([feed[name] for name in session.inputs])
        results = dict(zip(session.outputs, values, strict=True))
        assert difference(results["logits"], want) is None, f"position {position}"
        for name in state:
            state[name] = results[name.replace("past_key_values", "present")]
        token = want[:, -1:].argmax(-1)
    for layer, parts in enumerate(eager.layers):
        assert difference(state[f"past_key_values.{layer}.key"], parts.keys) is None
        assert difference(state[f"past_key_values.{layer}.value"], parts.values) is None


class RingBuffer(torch.nn.Module):
    """A cache of one's own, as a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 6, 4))

    def forward(self, new: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        self.rows.index_copy_(1, position + torch.arange(new.shape[1]), new)
        return self.rows.sum(1)


@pytest.mark.parametrize("opset", [20, 24])
@pytest.mark.parametrize("kept", [True, False])
def test_cache_in_a_buffer(opset: int, kept: bool) -> None:
    inputs = (torch.randn(2, 2, 4), torch.tensor(3))
    exported = assert_exports(
        RingBuffer(),
        inputs,
        other_inputs=[(torch.randn(2, 2, 4), torch.tensor(0))],
        opset_version=opset,
        mutations_as_outputs=kept,
    )
    assert ("rows_updated" in exported.session.outputs) is kept

"""Key/value caches of transformers as inputs and outputs, captured by the exporter itself."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import transformers
from transformers import DynamicCache, EncoderDecoderCache, StaticCache

import sardonyx
from sardonyx._transformers_private.registration import STATIC

IDS = torch.randint(0, 99, (2, 4))


def llama() -> Any:
    config = transformers.LlamaConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=64,
        vocab_size=99,
        max_position_embeddings=128,
    )
    return transformers.LlamaForCausalLM(config).eval()


def dynamic_cache(model: Any, batch: int, past: int) -> DynamicCache:
    cache = DynamicCache(config=model.config)
    for layer in range(2):
        cache.update(torch.randn(batch, 2, past, 8), torch.randn(batch, 2, past, 8), layer)
    return cache


def test_a_dynamic_cache_with_dimensions_named_by_strings() -> None:
    model = llama()
    layers = [{0: "batch", 2: "past"}] * 2

    def inputs(batch: int, past: int, sequence: int) -> dict[str, Any]:
        return {
            "input_ids": torch.randint(0, 99, (batch, sequence)),
            "attention_mask": torch.ones(batch, past + sequence, dtype=torch.int64),
            "past_key_values": dynamic_cache(model, batch, past),
        }

    program = sardonyx.export(
        model,
        kwargs=inputs(2, 3, 4),
        dynamic_shapes={
            "input_ids": {0: "batch", 1: "sequence"},
            "attention_mask": {0: "batch", 1: "total"},
            "past_key_values": [layers, layers],
        },
    )
    assert "past_key_values.1.value" in program.input_names
    assert "present.0.key" in program.output_names
    for batch, past, sequence in ((2, 3, 4), (3, 6, 2), (1, 5, 1)):
        fed = inputs(batch, past, sequence)
        results = program(**fed)
        with torch.no_grad():
            expected = model(**fed).logits
        torch.testing.assert_close(results[0], expected, rtol=1e-3, atol=1e-4)


def test_an_encoder_decoder_cache() -> None:
    config = transformers.T5Config(
        vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4
    )
    model = transformers.T5ForConditionalGeneration(config).eval()
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    for layer in range(2):
        for part, length in ((cache.self_attention_cache, 3), (cache.cross_attention_cache, 7)):
            part.update(torch.randn(2, 4, length, 8), torch.randn(2, 4, length, 8), layer)
        cache.is_updated[layer] = True
    encoded = transformers.modeling_outputs.BaseModelOutput(torch.randn(2, 7, 32))
    program = sardonyx.export(
        model,
        kwargs={
            "encoder_outputs": encoded,
            "decoder_input_ids": IDS[:, :1],
            "past_key_values": cache,
        },
        verify=True,
    )
    caches = [name for name in program.input_names if name.startswith("past_key_values.")]
    assert len(caches) == 8


def test_a_static_cache_that_is_written_to_comes_back() -> None:
    model = llama()
    cache = StaticCache(config=model.config, max_cache_len=16)
    cache.early_initialization(2, 2, 8, torch.float32, torch.device("cpu"))
    if not STATIC.available:  # its layers do not know how much they hold
        with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1016.*StaticCache"):
            sardonyx.export(model, kwargs={"input_ids": IDS, "past_key_values": cache})
        return
    program = sardonyx.export(model, kwargs={"input_ids": IDS, "past_key_values": cache})
    shapes = [shape for name, _, shape in program._model.inputs if name.endswith(".key")]
    assert shapes == [[2, 2, 16, 8]] * 2


class Calling(torch.nn.Module):
    """A decoder whose cache has another name, or none, in what it takes and gives."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, memory: Any = None, **more: Any) -> Any:
        past = memory if memory is not None else more.pop("anything")
        result = self.model(input_ids=ids, past_key_values=past, use_cache=True)
        return {"scores": result.logits, "memory": result[1]}


@pytest.mark.parametrize(
    ("name", "capture"), [("memory", "torch"), ("anything", "torch"), ("memory", "auto")]
)
def test_a_cache_by_any_name(name: str, capture: str) -> None:
    model = llama()
    program = sardonyx.export(
        Calling(model),
        (IDS,),
        kwargs={name: dynamic_cache(model, 2, 3)},
        dynamic_shapes="auto",
        capture=capture,
    )
    assert program.input_names[1:3] == ["past_key_values.0.key", "past_key_values.1.key"]
    assert program.output_names[:2] == ["scores", "present.0.key"]
    past = dynamic_cache(model, 3, 5)
    with torch.no_grad():
        expected = Calling(model)(IDS[:1].expand(3, -1), **{name: copy.deepcopy(past)})["scores"]
    results = program(IDS[:1].expand(3, -1).contiguous(), **{name: past})
    torch.testing.assert_close(results[0], expected, rtol=1e-3, atol=1e-4)


def test_the_cache_that_transformers_makes_is_called_the_same_by_either_name() -> None:
    model = llama()
    fields = set(model(IDS).keys())
    for name in ("past_key_values", *({"cache"} & fields)):
        program = sardonyx.export(
            model,
            kwargs={"input_ids": IDS, name: dynamic_cache(model, 2, 3)},
            dynamic_shapes={"input_ids": {0: "batch"}, name: [[{0: "batch"}] * 2] * 2},
        )
        assert program.input_names[1] == "past_key_values.0.key"
        assert program.output_names[1] == "present.0.key"

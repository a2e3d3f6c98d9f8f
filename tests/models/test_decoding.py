"""Decoders with a cache generate the same twenty tokens through ONNX Runtime as in PyTorch."""

from __future__ import annotations

import pytest

from tests.harness import assert_exports, difference

from .decoding import cached_decoder, generate_eager, generate_in_runtime, left_padded_prompt

DECODERS = ["llama", "gpt2", "mistral", "qwen3"]


@pytest.mark.parametrize("name", DECODERS)
def test_twenty_tokens_are_eager_pytorch_s(name: str) -> None:
    example = cached_decoder(name)
    exported = assert_exports(
        example.model,
        example.inputs.args,
        example.inputs.kwargs,
        example.dynamic_shapes,
        example.others,
    )
    prompt, mask = left_padded_prompt(example.model.config)
    eager = generate_eager(example.model, prompt, mask, steps=20)
    ours = generate_in_runtime(exported.session, example.model.config, prompt, mask, steps=20)
    assert ours.ids.tolist() == eager.ids.tolist()
    for step, (got, want) in enumerate(zip(ours.scores, eager.scores, strict=True)):
        assert difference(got, want) is None, f"step {step}"


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_caches_carry_the_names_that_runtimes_expect(name: str) -> None:
    example = cached_decoder(name)
    exported = assert_exports(
        example.model,
        example.inputs.args,
        example.inputs.kwargs,
        example.dynamic_shapes,
        capture_first=False,
    )
    parts = [f"{layer}.{part}" for layer in range(2) for part in ("key", "value")]
    caches = {f"past_key_values.{part}" for part in parts}
    assert set(exported.session.inputs) == {"input_ids", "attention_mask", "position_ids", *caches}
    assert set(exported.session.outputs) == {"logits", *(f"present.{part}" for part in parts)}

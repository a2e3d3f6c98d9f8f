"""Heads for multi-token prediction next to a model, which onnxruntime-genai runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime_genai as genai
import pytest
import torch
import transformers
from transformers.modeling_layers import MtpModel

import sardonyx

from .checkpoints import llama_config

STEPS, PROMPT = 20, [11, 42, 7, 80]


def model_with_head(**more: Any) -> tuple[Any, Any]:
    settings = {
        "vocab_size": 100, "hidden_size": 32, "intermediate_size": 48, "moe_intermediate_size": 16,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
        "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
        "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
        "initializer_range": 0.3, "num_mtp_layers": 1, "first_k_dense_replace": 1,
    }  # fmt: skip
    torch.manual_seed(0)
    model = transformers.Glm4MoeForCausalLM(transformers.Glm4MoeConfig(**settings | more)).eval()
    head = MtpModel(model, 1).eval()
    for name, weights in head.named_parameters():
        if ".mlp." in name:  # a new head has zeros and memory as it was for experts
            torch.nn.init.normal_(weights, std=0.3)
    return model, head


def tokens_of(generator: Any, length: int) -> list[int]:
    generator.append_tokens(np.asarray(PROMPT, dtype=np.int32))
    while len(generator.get_sequence()) < length:
        generator.generate_next_token()
    return list(generator.get_sequence())[:length]


def parameters(model: Any) -> Any:
    found = genai.GeneratorParams(model)
    found.set_search_options(max_length=60, do_sample=False)
    return found


def test_the_tokens_are_the_model_s_own(tmp_path: Path) -> None:
    model, head = model_with_head()
    out = tmp_path / "out"
    report = sardonyx.hf.export(model, out, runtime="onnxruntime-genai", precision="fp16", mtp=head)
    assert report.mtp == "mtp/model.onnx"
    settings = json.loads((out / "genai_config.json").read_text())["model"]
    assert settings["mtp"]["filename"] == "mtp/model.onnx"
    assert settings["decoder"]["outputs"]["hidden_states"] == "hidden_states"
    running = genai.Model(str(out))
    generator = genai.Generator(running, parameters(running))
    generator.append_tokens(np.asarray(PROMPT, dtype=np.int32))
    while len(generator.get_sequence(0)) < len(PROMPT) + STEPS:
        generator.generate_next_token()
    own = generator.get_sequence(0).tolist()
    both = genai.MtpGenerator(running, genai.Model(str(out / "mtp")), parameters(running))
    assert tokens_of(both, len(own)) == own


def test_the_head_is_pytorch_s(tmp_path: Path) -> None:
    """After a past, in ONNX Runtime, with the states of the model."""
    import onnxruntime

    model, head = model_with_head()
    out = tmp_path / "out"
    sardonyx.hf.export(model, out, runtime="onnxruntime-genai", precision="fp16", mtp=head)
    session = onnxruntime.InferenceSession(out / "mtp" / "model.onnx")
    ids = torch.tensor([PROMPT])
    with torch.no_grad():
        states = model.model(ids[:, :-1]).last_hidden_state
        from transformers.cache_utils import MtpCache

        positions = torch.arange(1, ids.shape[1])[None]
        cache = MtpCache(config=head.config)
        wanted = head.forward_layer(0, states, positions, cache, input_ids=ids[:, 1:])
    given = {
        "input_ids": ids[:, 1:].numpy(),
        "hidden_states": states.half().numpy(),
        "attention_mask": np.ones((1, 3), np.int64),
        "position_ids": positions.numpy() - 1,
    }
    for each in session.get_inputs():
        if "past" in each.name:
            given[each.name] = np.zeros((1, 1, 0, 16), np.float16)
    names = {each.name for each in session.get_inputs()}
    given = {name: value for name, value in given.items() if name in names}
    got = session.run(["hidden_states_out"], given)[0]
    np.testing.assert_allclose(got, wanted.numpy(), atol=0.05, rtol=0.05)


def test_heads_that_do_not_fit(tmp_path: Path) -> None:
    model, head = model_with_head()
    _, other = model_with_head(vocab_size=90)
    options: dict[str, Any] = {"runtime": "onnxruntime-genai", "precision": "fp16"}

    def export(mtp: Any, **more: Any) -> None:
        sardonyx.hf.export(model, tmp_path / "out", mtp=mtp, **options | more)

    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*90 tokens, and the model 100"):
        export(other)
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*LlamaConfig is no head"):
        export(llama_config())
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*half precision, not in fp32"):
        export(head, precision="fp32")
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*mtp and --split"):
        export(head, split=1)
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*no draft for onnxruntime-cpu"):
        export(head, runtime="onnxruntime-cpu")
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*not of a folder"):
        sardonyx.hf.export(tmp_path, tmp_path / "out", mtp=head, **options)
    assert not (tmp_path / "out").exists()

"""Heads for multi-token prediction next to a model, which onnxruntime-genai runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime_genai as genai
import pytest
import torch
import transformers
from onnx import numpy_helper
from safetensors.torch import load_file, save_file
from transformers.modeling_layers import MtpModel

import sardonyx
from sardonyx.hf.command import main

from .checkpoints import llama, llama_config

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


def checkpoint(folder: Path, **more: Any) -> tuple[Any, Any]:
    """A folder with the head as a further layer, as GLM's have it; the model and the head."""
    model, head = model_with_head(**more)
    model.save_pretrained(folder)
    file = folder / "model.safetensors"
    layer = f"model.layers.{model.config.num_hidden_layers}."
    weights = load_file(file)
    for name, weight in head.layers[0].state_dict().items():
        own = name.removeprefix("mtp_block.").replace("post_norm", "shared_head.norm")
        if not own.startswith("mlp.experts."):
            weights[layer + own] = weight
            continue
        kinds = ["gate_proj", "up_proj"] if "gate_up" in own else ["down_proj"]
        for number, expert in enumerate(weight):
            for kind, part in zip(kinds, expert.chunk(len(kinds)), strict=True):
                weights[f"{layer}mlp.experts.{number}.{kind}.weight"] = part
    save_file({name: each.contiguous() for name, each in weights.items()}, file, {"format": "pt"})
    return model, head


def constants(file: Path) -> dict[str, Any]:
    return {each.name: numpy_helper.to_array(each) for each in onnx.load(file).graph.initializer}


def tokens_of(generator: Any, length: int) -> list[int]:
    generator.append_tokens(np.asarray(PROMPT, dtype=np.int32))
    while len(generator.get_sequence()) < length:
        generator.generate_next_token()
    return list(generator.get_sequence())[:length]


def parameters(model: Any) -> Any:
    found = genai.GeneratorParams(model)
    found.set_search_options(max_length=60, do_sample=False)
    return found


def assert_the_tokens_are_the_model_s_own(out: Path) -> None:
    running = genai.Model(str(out))
    generator = genai.Generator(running, parameters(running))
    generator.append_tokens(np.asarray(PROMPT, dtype=np.int32))
    while len(generator.get_sequence(0)) < len(PROMPT) + STEPS:
        generator.generate_next_token()
    own = generator.get_sequence(0).tolist()
    both = genai.MtpGenerator(running, genai.Model(str(out / "mtp")), parameters(running))
    assert tokens_of(both, len(own)) == own


def test_the_tokens_are_the_model_s_own(tmp_path: Path) -> None:
    model, head = model_with_head()
    out = tmp_path / "out"
    report = sardonyx.hf.export(model, out, runtime="onnxruntime-genai", precision="fp16", mtp=head)
    assert report.mtp == "mtp/model.onnx"
    settings = json.loads((out / "genai_config.json").read_text())["model"]
    assert settings["mtp"]["filename"] == "mtp/model.onnx"
    assert settings["decoder"]["outputs"]["hidden_states"] == "hidden_states"
    assert_the_tokens_are_the_model_s_own(out)


@pytest.mark.parametrize("precision", ["fp16", "fp16+int4"])
@pytest.mark.parametrize("tied", [False, True])
def test_what_both_have_is_there_once(precision: Any, tied: bool, tmp_path: Path) -> None:
    """Embeddings and last layer, which the model reads from the head's data."""
    sizes = {"vocab_size": 512, "hidden_size": 64, "head_dim": 32, "tie_word_embeddings": tied}
    model, head = model_with_head(**sizes)
    whole, out = tmp_path / "whole", tmp_path / "out"
    options: dict[str, Any] = {"runtime": "onnxruntime-genai", "precision": precision}
    sardonyx.hf.export(model, whole, hidden_states=True, **options)
    report = sardonyx.hf.export(model, out, mtp=head, **options)
    weights = constants(whole / "model.onnx")
    shared = [name for name in weights if "embed_tokens" in name or "lm_head" in name]
    expected = sum(weights[name].nbytes for name in shared)
    size = (whole / "model.onnx").stat().st_size
    assert (out / "model.onnx").stat().st_size < size - 0.9 * expected
    assert any("weights are in mtp/model.onnx.data" in note for note in report.notes)
    for name, value in constants(out / "model.onnx").items():
        np.testing.assert_array_equal(value, weights[name])
    assert_the_tokens_are_the_model_s_own(out)


def test_a_checkpoint_has_its_head(tmp_path: Path) -> None:
    model, head = checkpoint(tmp_path / "model")
    out = tmp_path / "out"
    arguments = ["--runtime", "onnxruntime-genai", "--precision", "fp16", "--mtp", "--quiet"]
    assert main([str(tmp_path / "model"), "-o", str(out), *arguments]) == 0
    assert "not the model's" not in (out / "sardonyx.json").read_text()
    assert_the_tokens_are_the_model_s_own(out)
    options: dict[str, Any] = {"runtime": "onnxruntime-genai", "precision": "fp16"}
    sardonyx.hf.export(model, tmp_path / "other", mtp=head, **options)
    for file in ("model.onnx", "mtp/model.onnx"):
        wanted, got = constants(tmp_path / "other" / file), constants(out / file)
        assert set(got) == set(wanted)
        for name, value in wanted.items():
            np.testing.assert_array_equal(got[name], value)


def test_checkpoints_without_a_whole_head(tmp_path: Path) -> None:
    options: dict[str, Any] = {"runtime": "onnxruntime-genai", "precision": "fp16", "mtp": True}
    out = tmp_path / "out"
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*LlamaForCausalLM has no head"):
        sardonyx.hf.export(llama(tmp_path / "llama"), out, **options)
    folder = tmp_path / "model"
    checkpoint(folder)
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.2.eh_proj.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(sardonyx.ProgramError, match=r"SX2004.*eh_proj"):
        sardonyx.hf.export(folder, out, **options)
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*--mtp and --weights-in-place"):
        sardonyx.hf.export(folder, weights_in_place=True, **options)
    assert not out.exists()


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
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*not for a model in memory"):
        export(True)
    assert not (tmp_path / "out").exists()

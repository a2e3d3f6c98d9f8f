"""A smaller model that proposes tokens to one that onnxruntime-genai runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime_genai as genai
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import sardonyx

from .checkpoints import llama, llama_config, saved

STEPS = 20


def checkpoint(folder: Path, layers: int, seed: int = 0, **more: Any) -> Path:
    torch.manual_seed(seed)
    settings = {"num_hidden_layers": layers, "head_dim": 16, "max_position_embeddings": 64} | more
    return saved(transformers.LlamaForCausalLM(llama_config(**settings)).eval(), folder)


def generated(folder: Path, prompt: torch.Tensor) -> tuple[list[int], dict[str, Any]]:
    """Tokens, and what the runtime counted of its draft."""
    running = genai.Model(str(folder))
    options = genai.GeneratorParams(running)
    options.set_search_options(max_length=prompt.shape[1] + STEPS, do_sample=False)
    generator = genai.Generator(running, options)
    generator.append_tokens(prompt.numpy().astype(np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    counted = generator.get_speculative_stats()
    names = [name for name in dir(counted) if not name.startswith("_")]
    values = counted if isinstance(counted, dict) else {n: getattr(counted, n) for n in names}
    return generator.get_sequence(0).tolist(), values


@pytest.mark.parametrize("same", [True, False])
def test_the_tokens_are_the_model_s_own(same: bool, tmp_path: Path) -> None:
    """A draft that is the model itself proposes what it would say."""
    own = checkpoint(tmp_path / "own", 2)
    draft = own if same else checkpoint(tmp_path / "small", 1, seed=1, max_position_embeddings=48)
    out = tmp_path / "out"
    report = sardonyx.hf.export(own, out, runtime="onnxruntime-genai", draft=draft)
    assert report.draft == "draft/model.onnx"
    assert {each.name for each in (out / "draft").iterdir()} == {"model.onnx"}
    settings = json.loads((out / "genai_config.json").read_text())
    assert settings["model"]["draft"]["num_hidden_layers"] == (2 if same else 1)
    assert settings["model"]["context_length"] == (64 if same else 48)
    model = transformers.LlamaForCausalLM.from_pretrained(own).eval()
    prompt = torch.tensor([[11, 42, 7, 80]])
    wanted = model.generate(prompt, do_sample=False, max_new_tokens=STEPS, eos_token_id=None)
    tokens, counted = generated(out, prompt)
    assert tokens == wanted[0].tolist()
    proposed, accepted = counted["draft_tokens_proposed"], counted["draft_tokens_accepted"]
    assert proposed > 0
    assert accepted == proposed or not same


def test_a_folder_of_weights_in_place_has_it_too(tmp_path: Path) -> None:
    own = checkpoint(tmp_path / "own", 2)
    small = checkpoint(tmp_path / "small", 1)
    for _ in range(2):  # an export replaces an earlier one
        sardonyx.hf.export(own, runtime="onnxruntime-genai", draft=small, weights_in_place=True)
    assert (own / "draft" / "model.onnx").is_file()
    genai.Model(str(own))


def test_drafts_that_do_not_fit(tmp_path: Path) -> None:
    own = checkpoint(tmp_path / "own", 1)
    other = checkpoint(tmp_path / "other", 1, vocab_size=90)
    out = tmp_path / "out"

    def export(draft: Path, **options: Any) -> None:
        options = {"runtime": "onnxruntime-genai"} | options
        sardonyx.hf.export(own, out, draft=draft, **options)

    with pytest.raises(
        sardonyx.UsageError, match=r"SX2012.*other has 90 tokens, and the model 100"
    ):
        export(other)
    same = llama(tmp_path / "same")
    for folder, token in ((own, "a"), (same, "b")):
        text = json.dumps({"model": {"vocab": {token: 0}}, "added_tokens": []})
        (folder / "tokenizer.json").write_text(text)
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*another tokenizer\.json"):
        export(same)
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*no draft for onnxruntime-cpu"):
        export(own, runtime="onnxruntime-cpu")
    for option, name in (({"split": 1}, "--split"), ({"last_logits": True}, "--last-logits")):
        with pytest.raises(sardonyx.UsageError, match=f"SX1001.*{name}"):
            export(own, **option)
    with pytest.raises(sardonyx.UsageError, match="SX2001"):
        export(tmp_path / "nowhere")
    assert not out.exists()


def test_a_head_of_eagle_3_is_no_draft(tmp_path: Path) -> None:
    """Its configuration is that of a Llama of one layer; its layer has another name, and reads
    states of several layers."""
    own = checkpoint(tmp_path / "own", 2)
    head = checkpoint(tmp_path / "head", 1)
    weights = load_file(head / "model.safetensors")
    layer = "model.layers.0."
    weights = {name.replace(layer, "midlayer."): value for name, value in weights.items()}
    weights["fc.weight"] = torch.zeros(64, 192)
    save_file(weights, head / "model.safetensors", {"format": "pt"})
    with pytest.raises(sardonyx.ProgramError, match=r"SX2004.*no 'model\.layers\.0\."):
        sardonyx.hf.export(own, tmp_path / "out", runtime="onnxruntime-genai", draft=head)
    assert not (tmp_path / "out").exists()

"""Caches of one size, which a model writes into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime_genai as genai
import pytest
import torch
import transformers

import sardonyx

from .checkpoints import llama_config, saved, t5
from .test_genai import assert_its_tokens

PLACES = 32


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    config = llama_config(head_dim=16, max_position_embeddings=128)
    model = transformers.LlamaForCausalLM(config).eval()
    return saved(model, tmp_path_factory.mktemp("static") / "model")


@pytest.mark.parametrize("split", [None, 2])
def test_genai_writes_into_one_buffer(checkpoint: Path, split: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = sardonyx.hf.export(
        checkpoint, out, runtime="onnxruntime-genai", static_cache=PLACES, verify=True, split=split
    )
    assert report.verified["equal"] == report.verified["tokens"]
    assert report.static_cache == PLACES
    (part,) = [each for each in report.parts if "past_key_values.0.key" in each.inputs]
    assert part.inputs["past_key_values.0.key"] == ["batch_size", 2, PLACES, 16]
    assert part.outputs["present.0.key"] == ["batch_size", 2, PLACES, 16]
    settings = json.loads((out / "genai_config.json").read_text())
    assert settings["search"]["max_length"] == PLACES
    assert settings["search"]["past_present_share_buffer"] is True
    model = transformers.LlamaForCausalLM.from_pretrained(checkpoint).eval()
    for batch in (1, 2):
        assert_its_tokens(model, out, batch)


def test_a_text_that_has_no_place(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sardonyx.hf.export(checkpoint, out, runtime="onnxruntime-genai", static_cache=8)
    loaded = sardonyx.hf.load(out)
    prompt = torch.randint(3, 90, (1, 9))
    with pytest.raises(
        sardonyx.UsageError, match=r"SX1001.*places for 8 tokens, and the text has 9"
    ):
        loaded.generate(prompt)
    model = transformers.LlamaForCausalLM.from_pretrained(checkpoint).eval()
    # The last token needs no place.
    wanted = model.generate(prompt[:, :4], do_sample=False, max_new_tokens=5, eos_token_id=None)
    assert loaded.generate(prompt[:, :4], max_new_tokens=5).equal(wanted)
    with pytest.raises(sardonyx.UsageError, match="the text has 9"):
        loaded.generate(prompt[:, :4], max_new_tokens=6)
    running = genai.Model(str(out))
    generator = genai.Generator(running, genai.GeneratorParams(running))
    with pytest.raises(RuntimeError):
        generator.append_tokens(prompt.numpy().astype(np.int32))


def test_what_has_no_such_cache(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def export(folder: Path = checkpoint, **options: Any) -> None:
        sardonyx.hf.export(folder, out, **{"static_cache": 8} | options)

    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*no cache of LlamaForCausalLM"):
        export(task="text-generation")
    with pytest.raises(sardonyx.UsageError, match="SX2012"):
        export(t5(tmp_path / "t5"))
    with pytest.raises(sardonyx.UsageError, match="SX1001"):
        export(static_cache=0)
    assert not out.exists()


def test_a_past_of_one_length_is_no_cache_of_one_size(checkpoint: Path, tmp_path: Path) -> None:
    for runtime in ("onnxruntime", "onnxruntime-cpu"):
        out = tmp_path / runtime
        sardonyx.hf.export(checkpoint, out, runtime=runtime, fixed={"past_sequence_length": 4})
        with pytest.raises(sardonyx.UsageError, match=r"SX1001.*behind 4 tokens alone"):
            sardonyx.hf.load(out).generate(torch.tensor([[11, 42, 7]]))

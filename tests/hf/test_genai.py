"""Folders for onnxruntime-genai: what is in them, and its tokens."""

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

import sardonyx

from .checkpoints import llama_config

STEPS = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    torch.manual_seed(3)
    config = llama_config(head_dim=16, max_position_embeddings=128)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
    out = tmp_path_factory.mktemp("genai") / "out"
    sardonyx.hf.export(model, out, runtime="onnxruntime-genai")
    return model, out


def test_the_graph_is_the_runtime_s(made: tuple[Any, Path]) -> None:
    model, out = made
    graph = onnx.load(out / "model.onnx").graph
    layers = model.config.num_hidden_layers
    operators = [node.op_type for node in graph.node]
    assert operators.count("GroupQueryAttention") == layers
    assert "RotaryEmbedding" not in operators
    assert len(operators) <= 10 * layers + 10
    assert [each.name for each in graph.input][:2] == ["input_ids", "attention_mask"]
    assert "position_ids" not in [each.name for each in graph.input]


def test_the_configuration_says_what_the_model_has(made: tuple[Any, Path]) -> None:
    model, out = made
    found = json.loads((out / "genai_config.json").read_text())
    assert found["search"]["past_present_share_buffer"] is True
    assert found["search"]["max_length"] == 128
    decoder = found["model"]["decoder"]
    assert decoder["filename"] == "model.onnx"
    assert decoder["num_hidden_layers"] == model.config.num_hidden_layers
    assert (decoder["num_key_value_heads"], decoder["head_size"]) == (2, 16)
    assert "position_ids" not in decoder["inputs"]


@pytest.mark.parametrize("batch", [1, 2])
def test_its_generator_gives_pytorch_s_tokens(made: tuple[Any, Path], batch: int) -> None:
    model, out = made
    prompt = torch.randint(3, 90, (batch, 5), generator=torch.Generator().manual_seed(batch))
    running = genai.Model(str(out))
    options = genai.GeneratorParams(running)
    options.set_search_options(max_length=5 + STEPS, batch_size=batch, do_sample=False)
    generator = genai.Generator(running, options)
    generator.append_tokens(prompt.numpy().astype(np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    wanted = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=STEPS
    )
    for row in range(batch):
        got = generator.get_sequence(row).tolist()
        assert got[: len(wanted[row])] == wanted[row].tolist()[: len(got)]

"""Folders for onnxruntime-genai: what is in them, and its tokens."""

from __future__ import annotations

import json
from collections import Counter
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
    assert_its_tokens(*made, batch)


@pytest.mark.parametrize(("provider", "precision"), [("cuda", "fp16"), ("webgpu", "fp32")])
def test_forms_of_a_provider(
    made: tuple[Any, Path], provider: str, precision: Any, tmp_path: Path
) -> None:
    model, _ = made
    out = tmp_path / "out"
    sardonyx.hf.export(
        model, out, runtime="onnxruntime-genai", provider=provider, precision=precision
    )
    found = json.loads((out / "genai_config.json").read_text())
    (options,) = found["model"]["decoder"]["session_options"]["provider_options"]
    assert list(options) == [provider]
    assert found["search"]["past_present_share_buffer"] is True
    graph = onnx.load(out / "model.onnx").graph
    types = {each.type.tensor_type.elem_type for each in graph.input if "past" in each.name}
    assert types == {onnx.TensorProto.FLOAT16 if precision == "fp16" else onnx.TensorProto.FLOAT}
    # A layer of the model builder's has 11 nodes.
    assert len(graph.node) <= 11 * model.config.num_hidden_layers + 10
    # What the provider runs on a GPU, the CPU runs here.
    assert_its_tokens(model, out, 1)


@pytest.mark.parametrize("name", ["past_sequence_length", "total_sequence_length"])
def test_a_bound_of_the_past_is_the_size_of_the_cache(
    made: tuple[Any, Path], name: str, tmp_path: Path
) -> None:
    """The runtime's buffer has as many places as a text may have tokens."""
    model, _ = made
    out = tmp_path / "out"
    sardonyx.hf.export(
        model, out, runtime="onnxruntime-genai", provider="cuda", precision="fp16",
        max_sizes={name: 40},
    )  # fmt: skip
    found = json.loads((out / "genai_config.json").read_text())["search"]
    assert found["max_length"] == 40
    assert found["past_present_share_buffer"] is True
    tables = [
        each for each in onnx.load(out / "model.onnx").graph.initializer if "cos" in each.name
    ]
    assert [each.dims[0] for each in tables] in ([], [40])
    assert_its_tokens(model, out, 1)


def test_forms_of_directml(made: tuple[Any, Path], tmp_path: Path) -> None:
    """Its GroupQueryAttention neither turns queries nor takes them packed."""
    model, _ = made
    out = tmp_path / "out"
    sardonyx.hf.export(model, out, runtime="onnxruntime-genai", provider="dml", precision="fp16")
    found = json.loads((out / "genai_config.json").read_text())
    (options,) = found["model"]["decoder"]["session_options"]["provider_options"]
    assert options == {"dml": {"enable_graph_capture": "0"}}
    assert found["search"]["past_present_share_buffer"] is True
    assert "position_ids" in found["model"]["decoder"]["inputs"]
    proto = onnx.load(out / "model.onnx")
    assert [each.version for each in proto.opset_import if not each.domain] == [20]
    layers = model.config.num_hidden_layers
    kinds = Counter(node.op_type for node in proto.graph.node if node.domain)
    assert kinds["GroupQueryAttention"] == layers
    assert kinds["RotaryEmbedding"] == 2 * layers
    for node in proto.graph.node:
        if node.op_type == "GroupQueryAttention":
            assert all(node.input[:6])
            assert "do_rotary" not in {each.name for each in node.attribute}
    assert_its_tokens(model, out, 1)


def test_no_draft_for_directml(made: tuple[Any, Path], tmp_path: Path) -> None:
    with pytest.raises(sardonyx.errors.UsageError, match="one token behind a cache"):
        sardonyx.hf.export(
            made[0], tmp_path / "out", runtime="onnxruntime-genai", provider="dml", draft=tmp_path
        )


def test_providers_that_there_are_not(tmp_path: Path, made: tuple[Any, Path]) -> None:
    with pytest.raises(sardonyx.errors.UsageError, match="onnxruntime-genai with cpu, cuda"):
        sardonyx.hf.export(made[0], tmp_path / "out", runtime="onnxruntime-genai", provider="tpu")


def test_values_that_are_narrower_than_keys(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.DeepseekV3Config(
        hidden_size=32, intermediate_size=48, moe_intermediate_size=24, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, kv_lora_rank=16, q_lora_rank=16,
        qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8, first_k_dense_replace=1,
        vocab_size=100, max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.DeepseekV3ForCausalLM(config).eval()
    report = sardonyx.hf.export(model, tmp_path / "out", runtime="onnxruntime-genai")
    shapes = report.parts[0].inputs
    kinds = ("key", "value")
    assert [shapes[f"past_key_values.0.{kind}"][3] for kind in kinds] == [16, 16]
    assert_its_tokens(model, tmp_path / "out", 1)


def test_rows_that_are_padded_are_verified_too(tmp_path: Path) -> None:
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, vocab_size=100, initializer_range=0.3, bos_token_id=1,
        eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    report = sardonyx.hf.export(model, tmp_path / "out", runtime="onnxruntime-genai", verify=True)
    assert report.verified["equal"] == report.verified["tokens"] == 40


def assert_its_tokens(model: Any, out: Path, batch: int, steps: int = STEPS) -> None:
    prompt = torch.randint(3, 90, (batch, 5), generator=torch.Generator().manual_seed(batch))
    on_cpu = genai.Config(str(out))
    on_cpu.clear_providers()
    running = genai.Model(on_cpu)
    options = genai.GeneratorParams(running)
    options.set_search_options(max_length=5 + steps, batch_size=batch, do_sample=False)
    generator = genai.Generator(running, options)
    generator.append_tokens(prompt.numpy().astype(np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    wanted = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=steps
    )
    for row in range(batch):
        got = generator.get_sequence(row).tolist()
        assert got[: len(wanted[row])] == wanted[row].tolist()[: len(got)]


def test_frames_of_codes_are_not_for_it(tmp_path: Path) -> None:
    config = transformers.MusicgenDecoderConfig(
        hidden_size=32, ffn_dim=48, num_hidden_layers=1, num_attention_heads=2, vocab_size=100,
        max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.MusicgenForCausalLM(config)
    with pytest.raises(sardonyx.ProgramError, match=r"SX2009.*frames of several codes"):
        sardonyx.hf.export(
            model, tmp_path / "out", runtime="onnxruntime-genai", task="text-generation-with-past"
        )


@pytest.mark.parametrize(
    ("kind", "more"),
    [("GPTNeoX", {}), ("Exaone4", {"sliding_window": 4}), ("Gemma2", {"sliding_window": 4})],
)
def test_heads_apart_and_bounded_masks_have_one_buffer(
    kind: str, more: dict[str, Any], tmp_path: Path
) -> None:
    """Heads that are turned in part, or normalized after they are split; softcaps with windows."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, head_dim=16, vocab_size=100, max_position_embeddings=64,
        initializer_range=0.3, **more,
    )  # fmt: skip
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    sardonyx.hf.export(model, tmp_path / "out", runtime="onnxruntime-genai", static_cache=32)
    settings = json.loads((tmp_path / "out" / "genai_config.json").read_text())
    assert settings["search"]["past_present_share_buffer"] is True
    for batch in (1, 2):
        assert_its_tokens(model, tmp_path / "out", batch)

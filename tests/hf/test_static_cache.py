"""Caches of one size, which a model writes into."""

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

from .checkpoints import llama_config, saved, t5
from .test_genai import assert_its_tokens

PLACES = 32


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    config = llama_config(head_dim=16, max_position_embeddings=128)
    model = transformers.LlamaForCausalLM(config).eval()
    return saved(model, tmp_path_factory.mktemp("static") / "model")


def test_genai_counts_the_past_by_the_mask(tmp_path: Path) -> None:
    """A decoder that asks its cache how many tokens there were, for learned positions."""
    torch.manual_seed(0)
    config = transformers.BartConfig(
        d_model=32, decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=48,
        encoder_layers=2,
        vocab_size=100, max_position_embeddings=64, is_decoder=True, is_encoder_decoder=False,
        bos_token_id=1, eos_token_id=2, pad_token_id=0, decoder_start_token_id=1,
        forced_eos_token_id=None,
    )  # fmt: skip
    out = tmp_path / "out"
    model = transformers.BartForCausalLM(config).eval()
    sardonyx.hf.export(model, out, runtime="onnxruntime-genai", static_cache=PLACES)
    for batch in (1, 2):
        assert_its_tokens(model, out, batch)
    settings = json.loads((out / "genai_config.json").read_text())
    assert settings["search"]["past_present_share_buffer"] is True


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


def test_half_precision_has_no_buffer_on_processors(checkpoint: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"runtime": "onnxruntime-genai", "precision": "fp16"}
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*--static-cache: .* half precision"):
        sardonyx.hf.export(checkpoint, tmp_path / "out", static_cache=8, **options)


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


def assert_tokens_are_pytorch_s(checkpoint: Path, out: Path, batch: int, steps: int = 20) -> None:
    """Tokens behind prompts; the last prompt is padded on its left."""
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint).eval()
    prompt = torch.randint(3, 90, (batch, 5), generator=torch.Generator().manual_seed(batch))
    mask = torch.ones_like(prompt)
    mask[1:, :2] = 0
    wanted = model.generate(
        prompt, attention_mask=mask, do_sample=False, max_new_tokens=steps, eos_token_id=None
    )
    assert sardonyx.hf.load(out).generate(prompt, mask, steps).equal(wanted)


@pytest.mark.parametrize(
    ("runtime", "opset", "writer"),
    [
        ("onnxruntime", None, "ScatterElements"),
        ("onnxruntime-cpu", None, "ScatterElements"),
        ("onnxruntime-cpu", 24, "TensorScatter"),
        ("standard", 24, "TensorScatter"),
    ],
)
def test_runtimes_without_an_operator_that_has_a_cache(
    checkpoint: Path, runtime: Any, opset: int | None, writer: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    report = sardonyx.hf.export(
        checkpoint, out, runtime=runtime, opset=opset, static_cache=PLACES, verify=True
    )
    assert report.verified["equal"] == report.verified["tokens"]
    assert not report.notes
    (part,) = report.parts
    assert part.inputs["attention_mask"] == ["batch_size", PLACES]
    assert part.inputs["cache_position"] == [1]
    assert part.inputs["past_key_values.1.value"] == ["batch_size", 2, PLACES, 16]
    assert part.outputs["present.1.value"] == ["batch_size", 2, PLACES, 16]
    assert "present.1.cumulative_length" not in part.outputs
    nodes = [node.op_type for node in onnx.load(out / "model.onnx").graph.node]
    assert nodes.count(writer) == 4
    for batch in (1, 3):
        assert_tokens_are_pytorch_s(checkpoint, out, batch)
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*places for 32 tokens, and .* has 33"):
        sardonyx.hf.load(out).generate(torch.ones(1, PLACES + 1, dtype=torch.int64))


def test_all_sizes_are_numbers(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fixed = {"batch_size": 1, "sequence_length": 1}
    (part,) = sardonyx.hf.export(checkpoint, out, static_cache=PLACES, fixed=fixed).parts
    sizes = [size for shape in [*part.inputs.values(), *part.outputs.values()] for size in shape]
    assert all(isinstance(size, int) for size in sizes)
    assert_tokens_are_pytorch_s(checkpoint, out, 1)


def test_files_of_layers_have_their_places(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = sardonyx.hf.export(checkpoint, out, static_cache=PLACES, split=2)
    inputs = {each.file: each.inputs for each in report.parts}
    assert "past_key_values.1.key" in inputs["layers_1.onnx"]
    assert "past_key_values.0.key" not in inputs["layers_1.onnx"]
    assert_tokens_are_pytorch_s(checkpoint, out, 2)


def test_a_window_is_in_the_mask(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.Gemma2Config(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, vocab_size=100, sliding_window=4,
    )  # fmt: skip
    folder = saved(transformers.Gemma2ForCausalLM(config).eval(), tmp_path / "model")
    out = tmp_path / "out"
    (part,) = sardonyx.hf.export(folder, out, static_cache=PLACES).parts
    assert part.inputs["past_key_values.0.key"][2] == PLACES
    assert_tokens_are_pytorch_s(folder, out, 2)


def test_states_stay_next_to_places(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.Lfm2Config(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, vocab_size=100, layer_types=["conv", "full_attention"],
    )  # fmt: skip
    folder = saved(transformers.Lfm2ForCausalLM(config).eval(), tmp_path / "model")
    out = tmp_path / "out"
    report = sardonyx.hf.export(folder, out, static_cache=PLACES, verify=True)
    assert report.verified["equal"] == report.verified["tokens"]
    assert report.parts[0].inputs["past_key_values.1.key"][2] == PLACES


def test_states_alone_have_no_places(tmp_path: Path) -> None:
    config = transformers.MambaConfig(
        hidden_size=16, state_size=4, num_hidden_layers=1, vocab_size=100, time_step_rank=4
    )
    model = transformers.MambaForCausalLM(config)
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*has no tokens, only states"):
        sardonyx.hf.export(model, tmp_path / "out", static_cache=PLACES)


def test_the_last_key_is_not_the_newest_one(tmp_path: Path) -> None:
    """GPT-Neo's own code cuts its mask by the number of keys."""
    config = transformers.GPTNeoConfig(
        hidden_size=32, num_layers=2, num_heads=2, vocab_size=100, max_position_embeddings=64,
        attention_types=[[["global", "local"], 1]],
    )  # fmt: skip
    model = transformers.GPTNeoForCausalLM(config)
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*last of the keys.* is a free place"):
        sardonyx.hf.export(model, tmp_path / "out", static_cache=PLACES)


def test_a_past_of_one_length_is_no_cache_of_one_size(checkpoint: Path, tmp_path: Path) -> None:
    for runtime in ("onnxruntime", "onnxruntime-cpu"):
        out = tmp_path / runtime
        sardonyx.hf.export(checkpoint, out, runtime=runtime, fixed={"past_sequence_length": 4})
        with pytest.raises(sardonyx.UsageError, match=r"SX1001.*behind 4 tokens alone"):
            sardonyx.hf.load(out).generate(torch.tensor([[11, 42, 7]]))


def test_the_length_of_all_follows_from_the_cache_and_the_tokens(
    checkpoint: Path, tmp_path: Path
) -> None:
    fixed = {"batch_size": 1, "sequence_length": 1, "past_sequence_length": 8}
    out = tmp_path / "out"
    sardonyx.hf.export(checkpoint, out, runtime="onnxruntime-cuda", fixed=fixed)
    graph = onnx.load(out / "model.onnx", load_external_data=False).graph
    shapes = {each.name: each.type.tensor_type.shape.dim for each in graph.input}
    assert [dim.dim_value for dim in shapes["attention_mask"]] == [1, 9]
    assert all(dim.dim_value for shape in shapes.values() for dim in shape)
    fixed["total_sequence_length"] = 12
    with pytest.raises(sardonyx.UsageError, match=r"SX1019.*cannot be 12.*it is 9"):
        sardonyx.hf.export(checkpoint, out, runtime="onnxruntime-cuda", fixed=fixed)

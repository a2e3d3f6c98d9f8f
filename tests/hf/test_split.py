"""A model as several files, and what its head takes and returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import onnxruntime_genai as genai
import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.evaluation.sessions import Sessions

from .checkpoints import llama, llama_config, saved
from .test_genai import assert_its_tokens

STAGES = ["embeddings.onnx", "layers_0.onnx", "layers_1.onnx", "head.onnx"]


def small(folder: Path, **more: Any) -> Any:
    torch.manual_seed(0)
    settings = {"num_hidden_layers": 3, "max_position_embeddings": 64, "head_dim": 16} | more
    saved(transformers.LlamaForCausalLM(llama_config(**settings)).eval(), folder)
    return transformers.LlamaForCausalLM.from_pretrained(folder).eval()


def outputs_of(folder: Path, pipeline: list[str], batch: int, length: int, past: int) -> Any:
    generator = torch.Generator().manual_seed(batch)
    model = Sessions(folder, pipeline=[name.removesuffix(".onnx") for name in pipeline])
    given = {"input_ids": torch.randint(0, 100, (batch, length), generator=generator)}
    given["attention_mask"] = torch.ones(batch, past + length, dtype=torch.int64)
    given["position_ids"] = torch.arange(past, past + length).expand(batch, length)
    for name, shape in model.inputs("model").items():
        if name.startswith("past"):
            given[name] = torch.randn(batch, shape[1], past, shape[3], generator=generator)
    known = model.inputs("model")
    return model("model", **{name: given[name] for name in given if name in known})


@pytest.mark.parametrize("precision", ["fp32", "int4"])
@pytest.mark.parametrize("runtime", ["onnxruntime", "onnxruntime-cpu"])
@pytest.mark.parametrize("tied", [False, True])
def test_a_split_model_is_the_whole(
    runtime: Any, precision: Any, tied: bool, tmp_path: Path
) -> None:
    small(tmp_path / "model", tie_word_embeddings=tied)
    for name, split in (("whole", None), ("out", 2)):
        report = sardonyx.hf.export(
            tmp_path / "model", tmp_path / name, runtime=runtime, split=split, precision=precision
        )  # fmt: skip
    assert report.pipeline == [part.file for part in report.parts] == STAGES
    for sizes in ((1, 4, 3), (3, 1, 6)):
        whole = outputs_of(tmp_path / "whole", [], *sizes)
        got = outputs_of(tmp_path / "out", STAGES, *sizes)
        assert set(whole) <= set(got)
        for name, value in whole.items():
            torch.testing.assert_close(got[name], value)
    sizes_of = {
        name: sum(each.stat().st_size for each in (tmp_path / name).glob("*.onnx*"))
        for name in ("whole", "out")
    }
    # A copy of the table of embeddings would be 25 KB.
    assert sizes_of["out"] < sizes_of["whole"] + 20_000


def test_files_are_checked_and_each_has_its_layers(tmp_path: Path) -> None:
    small(tmp_path / "model")
    sardonyx.hf.export(tmp_path / "model", tmp_path / "out", split=3)
    for number in range(3):
        model = onnx.load(tmp_path / "out" / f"layers_{number}.onnx")
        onnx.checker.check_model(model, full_check=True)
        caches = [each.name for each in model.graph.input if each.name.startswith("past")]
        assert caches == [f"past_key_values.{number}.{kind}" for kind in ("key", "value")]
    head = onnx.load(tmp_path / "out" / "head.onnx").graph
    assert [each.name for each in head.output] == ["logits"]
    tokens = sardonyx.hf.load(tmp_path / "out").generate(torch.tensor([[11, 42, 7]]))
    assert tokens.shape == (1, 23)


def test_genai_runs_the_files_one_after_another(tmp_path: Path) -> None:
    model = small(tmp_path / "model", tie_word_embeddings=True)
    out = tmp_path / "out"
    sardonyx.hf.export(tmp_path / "model", out, split=2, runtime="onnxruntime-genai", verify=True)
    settings = json.loads((out / "genai_config.json").read_text())["model"]
    assert settings["type"] == "decoder-pipeline"
    assert [next(iter(each)) for each in settings["decoder"]["pipeline"]] == [
        name.removesuffix(".onnx") for name in STAGES
    ]
    for batch in (1, 2):
        assert_its_tokens(model, out, batch)


def test_weights_in_place_stay_there(tmp_path: Path) -> None:
    small(tmp_path / "model", tie_word_embeddings=True)
    report = sardonyx.hf.export(tmp_path / "model", weights_in_place=True, split=2, verify=True)
    assert report.verified["equal"] == report.verified["tokens"]
    assert all(part.bytes_in_place for part in report.parts)


def test_splits_that_there_are_not(tmp_path: Path) -> None:
    folder = llama(tmp_path / "model")
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*--split 3 .*has 2 \(model\.layers\)"):
        sardonyx.hf.export(folder, tmp_path / "out", split=3)
    with pytest.raises(sardonyx.UsageError, match="SX1001"):
        sardonyx.hf.export(folder, tmp_path / "out", split=0)
    with pytest.raises(sardonyx.UsageError, match=r"SX1001.*adapters"):
        sardonyx.hf.export(folder, tmp_path / "out", split=1, adapters=[tmp_path])
    assert not (tmp_path / "out").exists()


def test_genai_passes_no_cache_between_files(tmp_path: Path) -> None:
    """The last layers of Gemma 3n read the keys of earlier ones."""
    torch.manual_seed(0)
    config = transformers.Gemma3nTextConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=4, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, vocab_size=100, vocab_size_per_layer_input=100,
        hidden_size_per_layer_input=8, num_kv_shared_layers=2, laurel_rank=4,
        activation_sparsity_pattern=[0.0] * 4, max_position_embeddings=64,
        layer_types=["sliding_attention", "full_attention"] * 2,
    )  # fmt: skip
    folder = saved(transformers.Gemma3nForCausalLM(config).eval(), tmp_path / "model")
    report = sardonyx.hf.export(folder, tmp_path / "out", split=2, verify=True)
    assert report.verified["equal"] == report.verified["tokens"]
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*layers_1\.onnx reads present"):
        sardonyx.hf.export(folder, tmp_path / "other", runtime="onnxruntime-genai", split=2)
    # What reads these keys would see the whole of a buffer.
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    sardonyx.hf.export(folder, tmp_path / "whole", runtime="onnxruntime-genai")
    assert_its_tokens(model, tmp_path / "whole", 1)


def test_genai_keeps_both_states_of_a_layer(tmp_path: Path) -> None:
    """A short convolution has one state, and an empty other one that nothing reads."""
    torch.manual_seed(0)
    config = transformers.Lfm2Config(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, vocab_size=100, max_position_embeddings=64,
        layer_types=["conv", "full_attention"],
    )  # fmt: skip
    folder = saved(transformers.Lfm2ForCausalLM(config).eval(), tmp_path / "model")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    out = tmp_path / "out"
    report = sardonyx.hf.export(folder, out, split=2, runtime="onnxruntime-genai", verify=True)
    assert report.verified["equal"] == report.verified["tokens"]
    states = {f"past_key_values.0.{kind}_state" for kind in ("conv", "recurrent")}
    assert states <= set(report.parts[1].inputs)
    for batch in (1, 2):
        assert_its_tokens(model, out, batch)


def test_genai_passes_whole_prompts_to_the_first_file(tmp_path: Path) -> None:
    """Mamba's code takes one token at a time."""
    config = transformers.MambaConfig(
        hidden_size=16, num_hidden_layers=2, vocab_size=100, state_size=4, time_step_rank=4
    )
    model = transformers.MambaForCausalLM(config).eval()
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*--split: .*one token at a time"):
        sardonyx.hf.export(model, tmp_path / "out", runtime="onnxruntime-genai", split=2)


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnxruntime-genai"])
def test_logits_of_the_last_token_and_hidden_states(runtime: Any, tmp_path: Path) -> None:
    model = small(tmp_path / "model")
    out = tmp_path / "out"
    report = sardonyx.hf.export(
        tmp_path / "model", out, runtime=runtime, last_logits=True, hidden_states=True, verify=True
    )
    assert report.verified["equal"] == report.verified["tokens"]
    assert report.parts[0].outputs["logits"] == ["batch_size", 1, 100]
    assert report.parts[0].outputs["hidden_states"] == ["batch_size", "sequence_length", 64]
    if runtime == "onnxruntime-genai":
        outputs = json.loads((out / "genai_config.json").read_text())["model"]["decoder"]["outputs"]
        assert outputs["hidden_states"] == "hidden_states"
        for batch in (1, 2):
            assert_its_tokens(model, out, batch)
        return
    ids = torch.randint(0, 100, (3, 7))
    loaded = sardonyx.hf.load(out)
    past = {
        name: torch.zeros(3, shape[1], 0, shape[3])
        for name, shape in loaded.inputs("model").items()
        if name.startswith("past")
    }
    positions = torch.arange(7).expand(3, 7)
    got = loaded(input_ids=ids, attention_mask=torch.ones_like(ids), position_ids=positions, **past)
    with torch.no_grad():
        wanted = model(ids, output_hidden_states=True)
    torch.testing.assert_close(got["logits"], wanted.logits[:, -1:], rtol=1e-4, atol=1e-4)
    states = wanted.hidden_states[-1]
    torch.testing.assert_close(got["hidden_states"], states, rtol=1e-4, atol=1e-4)


def test_a_model_without_a_head(tmp_path: Path) -> None:
    config = transformers.BertConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        vocab_size=100, max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.BertModel(config)
    for option in ("last_logits", "hidden_states"):
        with pytest.raises(sardonyx.UsageError, match=r"SX2012.*BertModel has no head"):
            sardonyx.hf.export(model, tmp_path / "out", **{option: True})
    report = sardonyx.hf.export(model, tmp_path / "out", split=2)
    assert len(report.parts) == 4


def test_genai_loads_what_the_command_wrote(tmp_path: Path) -> None:
    small(tmp_path / "model")
    arguments = ["--split", "1", "--last-logits", "--runtime", "onnxruntime-genai", "--quiet"]
    from sardonyx.hf.command import main

    assert main([str(tmp_path / "model"), "-o", str(tmp_path / "out"), *arguments]) == 0
    genai.Model(str(tmp_path / "out"))

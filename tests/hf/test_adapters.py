"""LoRA adapters: as inputs of a model, and merged into its weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import save_file

import sardonyx.hf
from sardonyx.errors import OnnxExporterError, UsageError
from tests.hf.checkpoints import llama, t5

TOKENS = torch.tensor([[11, 42, 7, 80], [3, 9, 60, 61]])


def _adapter(
    folder: Path, layers: Sequence[str], rank: int, model: torch.nn.Module, **settings: Any
) -> Path:
    """A folder as peft writes it, with matrices for these layers."""
    folder.mkdir()
    generator = torch.Generator().manual_seed(rank)
    tensors = {}
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and name.split(".")[-1] in layers:
            for side, shape in (
                ("A", (rank, module.in_features)),
                ("B", (module.out_features, rank)),
            ):
                key = f"base_model.model.{name}.lora_{side}.weight"
                tensors[key] = torch.randn(shape, generator=generator) * 0.5
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": rank, "lora_alpha": 2 * rank, **settings}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def _merged(base: Path, adapter: Path, scale: float) -> Any:
    """The model of eager PyTorch with the adapter in its weights."""
    from safetensors.torch import load_file

    model = transformers.AutoModelForCausalLM.from_pretrained(base).eval()
    tensors = load_file(adapter / "adapter_model.safetensors")
    with torch.no_grad():
        for key, down in tensors.items():
            if ".lora_A." in key:
                up = tensors[key.replace("lora_A", "lora_B")]
                path = key.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
                model.get_submodule(path).weight += scale * up @ down
    return model


def _tokens(model: Any) -> torch.Tensor:
    found: torch.Tensor = model.generate(
        TOKENS, attention_mask=torch.ones_like(TOKENS), max_new_tokens=6, min_new_tokens=6,
        do_sample=False, pad_token_id=0,
    )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama(tmp_path_factory.mktemp("base") / "llama")


def test_one_model_runs_with_each_adapter_and_without(base: Path, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(base).eval()
    poet = _adapter(tmp_path / "poet", ["q_proj", "v_proj"], 8, model)
    coder = _adapter(tmp_path / "coder", ["down_proj"], 4, model, use_rslora=True)
    report = sardonyx.hf.export(
        base, tmp_path / "out", runtime="onnxruntime-cpu", adapters=[poet, coder], verify=True
    )
    assert report.adapters == ["poet.onnx_adapter", "coder.onnx_adapter"]
    assert report.verified["different"] == []
    loaded = sardonyx.hf.load(tmp_path / "out")
    expected = {
        None: model,
        "poet": _merged(base, poet, 2.0),
        "coder": _merged(base, coder, 2 * 4**0.5),
    }
    results = {name: _tokens(each) for name, each in expected.items()}
    assert not torch.equal(results[None], results["poet"])
    for name in (None, "poet", "coder", None):
        assert torch.equal(
            loaded.generate(TOKENS, max_new_tokens=6, adapter=name), results[name]
        ), name
    with pytest.raises(UsageError, match="no adapter 'cook'"):
        loaded.generate(TOKENS, adapter="cook")


def test_an_adapter_is_merged_into_the_weights(base: Path, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    poet = _adapter(tmp_path / "poet", ["q_proj", "lm_head"], 8, model)
    report = sardonyx.hf.export(base, tmp_path / "out", merge_adapters=[poet], verify=True)
    assert report.verified["different"] == []
    loaded = sardonyx.hf.load(tmp_path / "out")
    assert torch.equal(loaded.generate(TOKENS, max_new_tokens=6), _tokens(_merged(base, poet, 2.0)))


def test_what_does_not_fit_is_listed_and_nothing_is_written(base: Path, tmp_path: Path) -> None:
    wide = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=100, hidden_size=32, intermediate_size=96, num_hidden_layers=3,
            num_attention_heads=4,
        )
    )  # fmt: skip
    other = _adapter(tmp_path / "other", ["q_proj"], 4, wide)
    dora = _adapter(tmp_path / "dora", ["q_proj"], 4, wide, use_dora=True)
    with pytest.raises(OnnxExporterError) as caught:
        sardonyx.hf.export(base, tmp_path / "out", adapters=[other, dora, tmp_path / "none"])
    messages = [each.message for each in caught.value.diagnostics]
    assert {each.code for each in caught.value.diagnostics} == {"SX2011"}
    for part in (
        "q_proj of 32 inputs and 32 outputs, and the model's is a Linear of 64 and 64",
        "layers.2.self_attn.q_proj, which the model does not have",
        "use_dora=True",
        "none has no adapter_config.json",
    ):
        assert any(part in message for message in messages), messages
    assert not (tmp_path / "out").exists()


def test_matrices_of_another_rank_are_rejected(base: Path, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    rank = {"rank_pattern": {"q_proj": 4}}
    fits = _adapter(tmp_path / "fits", ["q_proj"], 4, model, r=8, **rank)
    sardonyx.hf.export(base, tmp_path / "out", adapters=[fits])
    odd = _adapter(tmp_path / "odd", ["v_proj"], 4, model, r=8, **rank)
    with pytest.raises(OnnxExporterError, match=r"of rank 4 for .*v_proj, .*of rank 8"):
        sardonyx.hf.export(base, tmp_path / "other", adapters=[odd])
    from safetensors.torch import load_file

    torn = _adapter(tmp_path / "torn", ["v_proj"], 4, model)
    tensors = load_file(torn / "adapter_model.safetensors")
    name = next(each for each in tensors if ".lora_A." in each)
    tensors[name] = tensors[name][:2].clone()
    save_file(tensors, torn / "adapter_model.safetensors")
    with pytest.raises(OnnxExporterError, match="do not fit each other"):
        sardonyx.hf.export(base, tmp_path / "other", adapters=[torn])
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "settings",
    [{"lora_alpha": None}, {"alpha_pattern": {"(": 3}}, {"alpha_pattern": [1]}],
    ids=["no alpha", "no pattern", "no mapping"],
)
def test_settings_without_a_scale_are_rejected(
    base: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    odd = _adapter(tmp_path / "odd", ["q_proj"], 4, model, **settings)
    with pytest.raises(OnnxExporterError, match="has no scale for") as caught:
        sardonyx.hf.export(base, tmp_path / "out", adapters=[odd])
    assert caught.value.diagnostics[0].code == "SX2011"


def test_a_head_that_is_the_embedding_takes_no_merged_adapter(tmp_path: Path) -> None:
    tied = llama(tmp_path / "tied", tie_word_embeddings=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(tied)
    poet = _adapter(tmp_path / "poet", ["lm_head"], 4, model)
    with pytest.raises(UsageError, match=r"is 'model\.embed_tokens\.weight', too"):
        sardonyx.hf.export(tied, tmp_path / "out", merge_adapters=[poet])


def test_models_of_several_files_take_merged_adapters_only(tmp_path: Path) -> None:
    folder = t5(tmp_path / "t5")
    model = transformers.T5ForConditionalGeneration.from_pretrained(folder)
    poet = _adapter(tmp_path / "poet", ["q"], 4, model)
    with pytest.raises(UsageError, match="models that are one file"):
        sardonyx.hf.export(folder, tmp_path / "out", adapters=[poet])

"""Keys and values in integers, compared with eager PyTorch that rounds them in the same way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime_genai as genai
import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.command import main

from .checkpoints import llama_config, saved
from .test_genai import assert_its_tokens

PROMPTS = [torch.arange(3, 90), torch.arange(90, 3, -1)]
STEPS = 20


class Rounded(transformers.DynamicCache):
    """A cache that holds what integers of `largest` at most stand for."""

    def __init__(self, scales: dict[str, torch.Tensor], largest: int) -> None:
        super().__init__()
        self.scales, self.largest = scales, largest

    def update(self, keys: Any, values: Any, layer_idx: int, *args: Any, **more: Any) -> Any:
        held = []
        for value, kind in ((keys, "key"), (values, "value")):
            scale = self.scales[f"past_key_values.{layer_idx}.{kind}.scale"]
            held.append((value / scale).round().clamp(-self.largest - 1, self.largest) * scale)
        return super().update(*held, layer_idx, *args, **more)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(11)  # its likeliest tokens are apart from others
    config = llama_config(head_dim=16, max_position_embeddings=128)
    model = transformers.LlamaForCausalLM(config).eval()
    return saved(model, tmp_path_factory.mktemp("quantized") / "model")


def scales_of(folder: Path) -> dict[str, torch.Tensor]:
    graph = onnx.load(folder / "model.onnx").graph
    found = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    return {n: torch.tensor(v) for n, v in found.items() if n.endswith(".scale")}


@pytest.mark.parametrize("sizes", [(1, None), (2, 64)])
@pytest.mark.parametrize("scales", ["channel", "tensor"])
@pytest.mark.parametrize("kind", ["int8", "int4"])
def test_logits_are_those_of_rounded_keys_and_values(
    checkpoint: Path, kind: Any, scales: Any, sizes: Any, tmp_path: Path
) -> None:
    out, (batch, places) = tmp_path / "out", sizes
    report = sardonyx.hf.export(
        checkpoint, out, runtime="onnxruntime-genai", cache_type=kind, cache_scales=scales,
        cache_prompts=PROMPTS, static_cache=places,
    )  # fmt: skip
    assert report.cache_type == kind
    width = 16 if kind == "int8" else 8
    assert report.parts[0].inputs["past_key_values.0.key"][3] == width
    known = scales_of(out)
    shape = (1, 2, 1, 16) if scales == "channel" else (1,)
    assert {tuple(each.shape) for each in known.values()} == {shape}
    model = transformers.LlamaForCausalLM.from_pretrained(checkpoint).eval()
    ids = torch.randint(3, 90, (batch, 12), generator=torch.Generator().manual_seed(1))
    loaded = sardonyx.hf.load(out)
    from sardonyx.hf.evaluation.generation import empty_caches, next_past

    cache, past = Rounded(known, 127 if kind == "int8" else 7), empty_caches(loaded, batch)
    # The runtime takes several tokens after others for one sequence at a time.
    for begin, end in ((0, 7), (7, 8), (8, 12 if batch == 1 else 9)):
        mask = torch.ones(batch, end, dtype=torch.int64)
        with torch.no_grad():
            wanted = model(ids[:, begin:end], attention_mask=mask, past_key_values=cache).logits
        made = loaded("model", input_ids=ids[:, begin:end], attention_mask=mask, **past)
        past = next_past(made)
        torch.testing.assert_close(made["logits"], wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("split", [None, 2])
def test_genai_gives_the_tokens_of_the_model(checkpoint: Path, split: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sardonyx.hf.export(
        checkpoint, out, runtime="onnxruntime-genai", cache_type="int8", cache_prompts=PROMPTS,
        split=split,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM.from_pretrained(checkpoint).eval()
    for batch in (1, 2):
        assert_its_tokens(model, out, batch, STEPS)


def test_scales_of_keys_are_for_any_position(checkpoint: Path, tmp_path: Path) -> None:
    """Pairs of channels are turned with the position: both have the length of the pair."""
    sardonyx.hf.export(
        checkpoint, tmp_path / "out", runtime="onnxruntime-genai", cache_type="int8",
        cache_prompts=[torch.tensor([5, 6])],
    )  # fmt: skip
    scale = scales_of(tmp_path / "out")["past_key_values.0.key.scale"]
    torch.testing.assert_close(scale[..., :8], scale[..., 8:])
    model = transformers.LlamaForCausalLM.from_pretrained(checkpoint).eval()
    with torch.no_grad():
        far = torch.arange(100).expand(1, 100)
        cache = transformers.DynamicCache()
        model(torch.full((1, 100), 5), position_ids=far, past_key_values=cache)
    keys = cache.layers[0].keys
    assert bool((keys.abs() <= 127.5 * scale).all())


def test_values_somewhat_larger_than_the_prompts_are_not_clipped(
    checkpoint: Path, tmp_path: Path
) -> None:
    prompt = torch.tensor([5, 6, 7])
    sardonyx.hf.export(
        checkpoint, tmp_path / "out", runtime="onnxruntime-genai", cache_type="int8",
        cache_prompts=[prompt],
    )  # fmt: skip
    scale = scales_of(tmp_path / "out")["past_key_values.1.value.scale"]
    model = transformers.LlamaForCausalLM.from_pretrained(checkpoint).eval()
    with torch.no_grad():
        values = model(prompt[None], use_cache=True).past_key_values.layers[1].values
    largest = values.abs().amax(dim=(0, 2), keepdim=True)
    torch.testing.assert_close(scale * 127, 1.1 * largest, rtol=1e-4, atol=1e-6)


def test_prompts_are_texts_where_there_is_a_tokenizer(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("one two\n\nthree\n")
    arguments = [str(checkpoint), "-o", str(tmp_path / "out"), "--cache-type", "int8", "--quiet"]
    arguments += ["--runtime", "onnxruntime-genai", "--cache-prompts", str(prompts)]
    assert main(arguments) == 2
    assert "no tokenizer" in capsys.readouterr().err
    assert main([*arguments[:-1], str(tmp_path / "none.txt")]) == 2
    tokenizers = pytest.importorskip("tokenizers", reason="transformers has it")
    vocabulary = {"[UNK]": 0, "one": 5, "two": 6, "three": 7}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(checkpoint)
    assert main(arguments) == 0
    texts = scales_of(tmp_path / "out")
    tokens = [torch.tensor([5, 6]), torch.tensor([7])]
    sardonyx.hf.export(
        checkpoint, tmp_path / "other", runtime="onnxruntime-genai", cache_type="int8",
        cache_prompts=tokens,
    )  # fmt: skip
    assert all(value.equal(texts[name]) for name, value in scales_of(tmp_path / "other").items())


def test_the_cache_takes_a_quarter_of_float32(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sardonyx.hf.export(
        checkpoint, out, runtime="onnxruntime-genai", cache_type="int8", cache_prompts=PROMPTS
    )
    running = genai.Model(str(out))
    generator = genai.Generator(running, genai.GeneratorParams(running))
    generator.append_tokens(np.array([[5, 6, 7]], np.int32))
    present = generator.get_output("present.0.key")
    assert (present.dtype, present.shape) == (np.int8, (1, 2, 128, 16))


def test_what_cannot_be_quantized(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def export(**options: Any) -> None:
        given = {"runtime": "onnxruntime-genai", "cache_type": "int8", "cache_prompts": PROMPTS}
        sardonyx.hf.export(checkpoint, out, **given | options)

    for options, message in (
        ({"cache_type": "fp8"}, r"SX1001.*no type of a cache 'fp8'"),
        ({"cache_scales": "row"}, r"SX1001.*no kind of scales 'row'"),
        ({"cache_prompts": []}, r"SX1001.*chosen by prompts"),
        ({"cache_prompts": [torch.zeros(0)]}, r"SX1001.*no tokens"),
        ({"runtime": "onnxruntime"}, r"SX2012.*--cache-type: something else"),
    ):
        with pytest.raises(sardonyx.UsageError, match=message):
            export(**options)
    assert not out.exists()

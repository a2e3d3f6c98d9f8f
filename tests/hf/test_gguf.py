"""GGUF files: their weights are those that the blocks stand for, under the model's names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import sardonyx
from sardonyx import _native
from tests.models.example import unsettle

from .checkpoints import llama_config
from .gguf_files import BF16, F16, F32, Q4_0, Q4_1, Q8_0, write_gguf
from .test_quantized import logits

LFM2: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 100, "layer_types": ["conv", "full_attention"],
    "block_auto_adjust_ff_dim": False, "max_position_embeddings": 128, "tie_word_embeddings": False,
}  # fmt: skip
LFM2_METADATA: dict[str, Any] = {
    "general.architecture": "lfm2", "lfm2.context_length": 128, "lfm2.embedding_length": 64,
    "lfm2.feed_forward_length": 96, "lfm2.block_count": 2, "lfm2.attention.head_count": 4,
    "lfm2.attention.head_count_kv": [0, 2], "lfm2.attention.layer_norm_rms_epsilon": 1e-5,
    "lfm2.shortconv.l_cache": 3, "lfm2.rope.freq_base": 1000000.0,
    "tokenizer.ggml.tokens": [f"<{i}>" for i in range(100)],
}  # fmt: skip
# transformers' names to llama.cpp's.
LFM2_NAMES = {
    "model.embed_tokens": "token_embd", "model.embedding_norm": "token_embd_norm",
    "lm_head": "output", "model.layers": "blk", "operator_norm": "attn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.out_proj": "attn_output", "self_attn.q_layernorm": "attn_q_norm",
    "self_attn.k_layernorm": "attn_k_norm", "feed_forward.w1": "ffn_gate",
    "feed_forward.w3": "ffn_up", "feed_forward.w2": "ffn_down", "conv.in_proj": "shortconv.in_proj",
    "conv.out_proj": "shortconv.out_proj", "conv.conv": "shortconv.conv",
}  # fmt: skip
LLAMA_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "model.layers": "blk", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # fmt: skip


def renamed(name: str, names: dict[str, str]) -> str:
    for own, other in names.items():
        name = name.replace(own, other)
    return name


def lfm2(path: Path, kind: int, seed: int = 0) -> torch.nn.Module:
    """A file with matrices of one kind, and the model of the numbers in it."""
    torch.manual_seed(seed)
    model = transformers.Lfm2ForCausalLM(transformers.Lfm2Config(**LFM2)).eval()
    with torch.no_grad():
        unsettle(model)
    held = {}
    for name, weight in model.state_dict().items():
        plain = weight.squeeze(1) if "conv.conv" in name else weight
        wide = weight.dim() == 2 and "_proj" in name
        held[renamed(name, LFM2_NAMES)] = (plain, kind if wide else F32)
    exact = write_gguf(path, LFM2_METADATA, held)
    with torch.no_grad():
        for name, weight in model.state_dict().items():
            weight.copy_(exact[renamed(name, LFM2_NAMES)].view(weight.shape))
    return model


@pytest.mark.parametrize("kind", [F32, F16, BF16, Q8_0, Q4_0, Q4_1])
def test_a_file_alone_is_a_checkpoint(kind: int, tmp_path: Path) -> None:
    model = lfm2(tmp_path / "model.gguf", kind)
    report = sardonyx.hf.export(tmp_path / "model.gguf", tmp_path / "out", verify=kind == Q8_0)
    assert report.model_class == "Lfm2ForCausalLM"
    assert (tmp_path / "out" / "config.json").is_file()
    ids = torch.arange(2, 8).view(1, 6)
    wanted = model.generate(ids, max_new_tokens=10, do_sample=False, eos_token_id=None)
    assert sardonyx.hf.load(tmp_path / "out").generate(ids, max_new_tokens=10).equal(wanted)


def test_weights_of_a_file_stay_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    model = lfm2(folder / "model.gguf", F16)
    report = sardonyx.hf.export(folder, weights_in_place=True)
    assert report.parts[0].bytes_in_place > 200_000
    ids = torch.arange(2, 8).view(1, 6)
    wanted = model.generate(ids, max_new_tokens=10, do_sample=False, eos_token_id=None)
    assert sardonyx.hf.load(folder).generate(ids, max_new_tokens=10).equal(wanted)


def test_names_and_orders_of_llama(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="the package has llama.cpp's names of older architectures")
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(llama_config(tie_word_embeddings=False)).eval()
    with torch.no_grad():
        unsettle(model)
    held = {}
    for name, weight in model.state_dict().items():
        stored = weight
        if "q_proj" in name or "k_proj" in name:
            heads = 4 if "q_proj" in name else 2
            halves = weight.view(heads, 2, -1, weight.shape[1])
            stored = halves.transpose(1, 2).reshape(weight.shape)
        held[renamed(name, LLAMA_NAMES)] = (stored, Q4_0 if "proj" in name else F32)
    folder = tmp_path / "model"
    model.config.save_pretrained(folder)
    exact = write_gguf(folder / "model.gguf", {"general.architecture": "llama"}, held)
    plain = model.state_dict()
    for name, weight in plain.items():
        numbers = exact[renamed(name, LLAMA_NAMES)]
        if "q_proj" in name or "k_proj" in name:
            heads = 4 if "q_proj" in name else 2
            numbers = numbers.view(heads, -1, 2, weight.shape[1]).transpose(1, 2)
        weight.copy_(numbers.reshape(weight.shape))
    model.save_pretrained(tmp_path / "plain")
    sardonyx.hf.export(folder, tmp_path / "out")
    sardonyx.hf.export(tmp_path / "plain", tmp_path / "wanted")
    wanted = logits(tmp_path / "wanted")
    assert torch.equal(logits(tmp_path / "out"), wanted)
    sardonyx.hf.export(folder, tmp_path / "few", precision="int4")
    torch.testing.assert_close(logits(tmp_path / "few"), wanted, rtol=1e-4, atol=1e-5)


# Of types of blocks: elements and bytes, and where its scales are, which may not be any float16.
BLOCKS = {
    2: ("Q4_0", 32, 18, [0]), 3: ("Q4_1", 32, 20, [0, 2]), 8: ("Q8_0", 32, 34, [0]),
    10: ("Q2_K", 256, 84, [80, 82]), 11: ("Q3_K", 256, 110, [108]),
    12: ("Q4_K", 256, 144, [0, 2]), 13: ("Q5_K", 256, 176, [0, 2]), 14: ("Q6_K", 256, 210, [208]),
    20: ("IQ4_NL", 32, 18, [0]),
}  # fmt: skip


def dequantized(block: str, held: torch.Tensor, count: int, folder: Path) -> torch.Tensor:
    """The values of blocks that lie in a file."""
    (folder / "blocks").write_bytes(held.numpy().tobytes())
    place = ("", str(folder / "blocks"), "uint8", [held.numel()], 0, held.numel())
    made = _native.Dequantized(block, place, [count])
    return torch.from_numpy(made.values())


@pytest.mark.parametrize("kind", BLOCKS)
def test_blocks_are_what_transformers_makes_of_them(kind: int, tmp_path: Path) -> None:
    kernels = pytest.importorskip(
        "transformers.integrations.gguf.kernels", reason="transformers before 5.23 has none"
    )
    name, elements, size, halves = BLOCKS[kind]
    generator = torch.Generator().manual_seed(kind)
    held = torch.randint(0, 256, (6, size), generator=generator, dtype=torch.uint8)
    for at in halves:
        held[:, at : at + 2] = torch.randn(6, 1, generator=generator).half().view(torch.uint8)
    rows = held.view(2, -1)
    wanted = kernels.dequantize_blocks(rows, kind, 2, 3 * elements, torch.float32)
    assert torch.equal(dequantized(name, held, 6 * elements, tmp_path).view(wanted.shape), wanted)


@pytest.mark.parametrize("kind", [6, 7])
def test_blocks_of_five_bits(kind: int, tmp_path: Path) -> None:
    """Numbers whose lower four bits lie in pairs, and their fifth ones apart."""
    numbers = torch.arange(32).flip(0)
    low = (numbers[:16] & 15) | (numbers[16:] & 15) << 4
    high = sum(int(number >> 4) << place for place, number in enumerate(numbers))
    heads = [torch.tensor([0.5]).half(), torch.tensor([-2.0]).half()][: kind - 5]
    fifth = torch.tensor(list(int(high).to_bytes(4, "little")), dtype=torch.uint8)
    held = torch.cat([*(head.view(torch.uint8) for head in heads), fifth, low.to(torch.uint8)])
    wanted = numbers * 0.5 - 2 if kind == 7 else (numbers - 16) * 0.5
    name = {6: "Q5_0", 7: "Q5_1"}[kind]
    assert torch.equal(dequantized(name, held, 32, tmp_path), wanted)


def test_files_that_are_none_or_not_whole(tmp_path: Path) -> None:
    path, out = tmp_path / "model.gguf", tmp_path / "out"
    lfm2(path, Q8_0)
    whole = path.read_bytes()

    def refused(data: bytes, match: str) -> None:
        path.write_bytes(data)
        (tmp_path / "config.json").write_text(
            transformers.Lfm2Config(**LFM2, architectures=["Lfm2ForCausalLM"]).to_json_string()
        )
        with pytest.raises(sardonyx.ProgramError, match=match):
            sardonyx.hf.export(path, out)
        assert not out.exists()

    refused(whole[:-100], "SX2005.*is cut short: it has")
    refused(whole[:1000], "SX2005.*no GGUF file, or cut short")
    refused(b"GGML" + whole[4:], "SX2005.*does not begin as one")
    refused(whole[:4] + b"\x01" + whole[5:], "SX2005.*version is 1")
    end = whole.index(b"blk.0.ffn_up.weight") + len("blk.0.ffn_up.weight") + 20
    refused(whole[:end] + b"\x11" + whole[end + 1 :], "SX2001.*types 17")
    path.rename(tmp_path / "model-00001-of-00003.gguf")
    path = tmp_path / "model-00001-of-00003.gguf"
    refused(whole, "SX2005.*model-00002-of-00003.gguf is missing")


def test_weights_that_do_not_fit_are_all_listed(tmp_path: Path) -> None:
    lfm2(tmp_path / "model.gguf", F32)
    config = transformers.Lfm2Config(**(LFM2 | {"intermediate_size": 80, "vocab_size": 90}))
    config.architectures = ["Lfm2ForCausalLM"]
    config.save_pretrained(tmp_path)
    with pytest.raises(sardonyx.ProgramError) as caught:
        sardonyx.hf.export(tmp_path, tmp_path / "out")
    assert {each.code for each in caught.value.diagnostics} == {"SX2004"}
    assert len(caught.value.diagnostics) == 3 * 2 + 2


def test_several_files_are_not_chosen_of(tmp_path: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        lfm2(tmp_path / name, Q8_0)
    with pytest.raises(sardonyx.UsageError, match=r"SX2001.*several models: a\.gguf, b\.gguf"):
        sardonyx.hf.export(tmp_path, tmp_path / "out")

"""Checkpoints in few bits, written here as their formats say: the exported model has the weights
that a checkpoint of the same numbers in float32 has, and int4 has the checkpoint's own codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest
import safetensors.torch
import torch
import transformers

import sardonyx
from sardonyx.hf.checkpoints.packed import AWQ_ORDER
from sardonyx.hf.conversion import job

from .checkpoints import llama, saved

GROUP = 32
Tensors = dict[str, torch.Tensor]
# Of a matrix [out, in]: its tensors in the checkpoint, and what they stand for.
Coder = Callable[[torch.Tensor], tuple[Tensors, torch.Tensor]]


def packed(
    codes: torch.Tensor, axis: int, order: tuple[int, ...] = tuple(range(8))
) -> torch.Tensor:
    """Eight codes in each int32, from its lowest bits on."""
    eights = codes.long().movedim(axis, -1).unflatten(-1, (-1, 8))
    words = sum(eights[..., column] << (4 * place) for place, column in enumerate(order))
    assert isinstance(words, torch.Tensor)
    return words.to(torch.int32).movedim(-1, axis)


def grouped(weight: torch.Tensor, middle: bool) -> tuple[torch.Tensor, ...]:
    """Codes [out, in], scales and zero points [out, groups], and what they stand for."""
    groups = weight.unflatten(1, (-1, GROUP))
    scales = (groups.abs().amax(-1) / 6.5).half()
    zeros = torch.full_like(scales, 8).long()
    if not middle:
        zeros = torch.arange(zeros.numel()).view(zeros.shape) % 5 + 6
    codes = (groups / scales.float().unsqueeze(-1)).round() + zeros.unsqueeze(-1)
    codes = codes.clamp(0, 15).long()
    exact = (codes - zeros.unsqueeze(-1)).float() * scales.float().unsqueeze(-1)
    return codes.flatten(1), scales, zeros, exact.flatten(1)


def gptq(weight: torch.Tensor, middle: bool = True) -> tuple[Tensors, torch.Tensor]:
    codes, scales, zeros, exact = grouped(weight, middle)
    return {
        "qweight": packed(codes.T, 0),
        "qzeros": packed(zeros.T - 1, 1),
        "scales": scales.T.contiguous(),
        "g_idx": (torch.arange(weight.shape[1]) // GROUP).int(),
    }, exact


def awq(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    codes, scales, zeros, exact = grouped(weight, middle=False)
    return {
        "qweight": packed(codes.T, 1, AWQ_ORDER),
        "qzeros": packed(zeros.T, 1, AWQ_ORDER),
        "scales": scales.T.contiguous(),
    }, exact


def float8(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    rows, columns = (-(-size // 48) for size in weight.shape)
    scales = torch.rand(rows, columns) + 0.5
    wide = scales.repeat_interleave(48, 0).repeat_interleave(48, 1)
    wide = wide[: weight.shape[0], : weight.shape[1]]
    held = (weight / wide).to(torch.float8_e4m3fn)
    return {"weight": held, "weight_scale_inv": scales}, held.float() * wide


def packed_rows(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    codes, scales, _, exact = grouped(weight, middle=True)
    return {
        "weight_packed": packed(codes, 1),
        "weight_scale": scales,
        "weight_shape": torch.tensor(weight.shape),
    }, exact


def float4(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    """nvfp4: scales of 16 weights are float8, which one number divides."""
    groups = weight.unflatten(1, (-1, 16))
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
    whole = 2688 / weight.abs().max()
    scales = (groups.abs().amax(-1) / 6 * whole).to(torch.float8_e4m3fn)
    wide = scales.float() / whole
    codes = ((groups / wide.unsqueeze(-1)).unsqueeze(-1) - values).abs().argmin(-1)
    pairs = codes.flatten(1).unflatten(1, (-1, 2))
    return {
        "weight_packed": (pairs[..., 0] | pairs[..., 1] << 4).to(torch.uint8),
        "weight_scale": scales,
        "weight_global_scale": whole.reshape(1),
        "input_global_scale": torch.ones(1),
    }, (values[codes] * wide.unsqueeze(-1)).flatten(1)


def float4_of_modelopt(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    """The same under other names; the number multiplies."""
    held, _ = float4(weight)
    whole = 1 / held["weight_global_scale"]
    wide = held["weight_scale"].float() * whole
    numbers = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
    pairs = held["weight_packed"].long()
    values = numbers[torch.stack([pairs & 15, pairs >> 4], -1).flatten(1)]
    exact = (values.unflatten(1, (-1, 16)) * wide.unsqueeze(-1)).flatten(1)
    return {
        "weight": held["weight_packed"],
        "weight_scale": held["weight_scale"],
        "weight_scale_2": whole.reshape(()),
        "input_scale": torch.ones(()),
    }, exact


def rows_of_int8(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    most = weight.abs().amax(1)
    held = (weight * 127 / most.unsqueeze(-1)).round().to(torch.int8)
    return {"weight": held, "SCB": most}, held.float() * (most / 127).unsqueeze(-1)


def table(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    values = torch.linspace(-1, 1, 16) ** 3
    blocks = weight.flatten().unflatten(0, (-1, 64))
    scales = blocks.abs().amax(-1)
    codes = ((blocks / scales.unsqueeze(-1)).unsqueeze(-1) - values).abs().argmin(-1).flatten()
    told = {"shape": list(weight.shape), "blocksize": 64, "quant_type": "nf4", "dtype": "float32"}
    exact = values[codes] * scales.repeat_interleave(64)
    return {
        "weight": (codes[::2] << 4 | codes[1::2]).to(torch.uint8).unsqueeze(-1),
        "weight.absmax": scales,
        "weight.quant_map": values,
        "weight.quant_state.bitsandbytes__nf4": torch.tensor(list(json.dumps(told).encode())).to(
            torch.uint8
        ),
    }, exact.reshape(weight.shape)


def int8_of_torchao(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    scale = weight.abs().amax(1) / 127
    held = (weight / scale.unsqueeze(-1)).round().to(torch.int8)
    tensors = {"_weight_qdata": held, "_weight_scale": scale}
    return tensors, held.float() * scale.unsqueeze(-1)


def int4_of_torchao(weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    """Numbers from -8 on, and what the one of 0 stands for."""
    groups = weight.unflatten(1, (-1, GROUP))
    least, most = groups.amin(-1), groups.amax(-1)
    scale = (most - least) / 15
    middle = least + 8 * scale
    numbers = ((groups - middle.unsqueeze(-1)) / scale.unsqueeze(-1)).round().clamp(-8, 7)
    exact = numbers * scale.unsqueeze(-1) + middle.unsqueeze(-1)
    codes = (numbers.flatten(1).long() & 15).unflatten(1, (-1, 2))
    held = (codes[..., 0] | codes[..., 1] << 4).to(torch.uint8).view(torch.int8)
    return {
        "_weight_qdata": held,
        "_weight_scale": scale.T.contiguous(),
        "_weight_zero_point": middle.T.contiguous(),
    }, exact.flatten(1)


FORMATS: dict[str, tuple[Coder, dict[str, Any]]] = {
    "gptq": (gptq, {"quant_method": "gptq", "bits": 4, "group_size": GROUP}),
    "gptq without a middle": (
        lambda weight: gptq(weight, middle=False),
        {"quant_method": "gptq", "bits": 4, "group_size": GROUP, "sym": False},
    ),
    "awq": (awq, {"quant_method": "awq", "bits": 4, "group_size": GROUP}),
    "fp8": (float8, {"quant_method": "fp8", "weight_block_size": [48, 48]}),
    "compressed-tensors": (
        packed_rows,
        {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": GROUP}}},
        },
    ),
    "nvfp4": (
        float4,
        {
            "quant_method": "compressed-tensors",
            "format": "nvfp4-pack-quantized",
            "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float"}}},
        },
    ),
    "nvfp4 of modelopt": (float4_of_modelopt, {"quant_method": "modelopt", "quant_algo": "NVFP4"}),
    "int8": (rows_of_int8, {"quant_method": "bitsandbytes", "load_in_8bit": True}),
    "nf4": (table, {"quant_method": "bitsandbytes", "load_in_4bit": True}),
    "int8 of torchao": (int8_of_torchao, {"quant_method": "torchao", "_type": "Int8Tensor"}),
    "int4 of torchao": (int4_of_torchao, {"quant_method": "torchao", "_type": "Int4Tensor"}),
}


def written(folder: Path, name: str, seed: int = 0) -> tuple[Path, Path]:
    """The checkpoint in the format, and the same numbers in float32."""
    plain = llama(folder / "plain", seed=seed)
    coder, settings = FORMATS[name]
    held: Tensors = {}
    exact: Tensors = {}
    told_of: dict[str, str] = {"format": "pt"}
    for key, weight in safetensors.torch.load_file(plain / "model.safetensors").items():
        if "_proj." not in key:
            # A norm of ones, which is no node of the model.
            plain_weight = torch.ones_like(weight) if "0.input_layernorm" in key else weight
            held[key] = exact[key] = plain_weight
            continue
        tensors, exact[key] = coder(weight)
        if "_type" in settings:
            told_of[key] = json.dumps({"_type": settings["_type"], "_data": {}})
        held |= {key.removesuffix("weight") + ending: t for ending, t in tensors.items()}
    few = folder / "few"
    few.mkdir()
    told = json.loads((plain / "config.json").read_text()) | {"quantization_config": settings}
    (few / "config.json").write_text(json.dumps(told))
    save = safetensors.torch.save_file
    save({k: t.contiguous() for k, t in held.items()}, few / "model.safetensors", told_of)
    save(exact, plain / "model.safetensors", metadata={"format": "pt"})
    return few, plain


def logits(folder: Path) -> torch.Tensor:
    """The logits that the nodes of the model define. With its optimizer on, ONNX Runtime rounds
    the activations of 4-bit MatMuls to 8 bits."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
    ids = torch.arange(2, 20).view(2, 9)
    positions = torch.arange(9).expand(2, 9).contiguous()
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "position_ids": positions}
    for value in session.get_inputs()[len(given) :]:
        sizes = {"batch_size": 2, "past_sequence_length": 0}
        given[value.name] = torch.zeros([sizes.get(size, size) for size in value.shape])
    (made,) = session.run(["logits"], {name: value.numpy() for name, value in given.items()})
    return torch.from_numpy(made)


@pytest.mark.parametrize("name", FORMATS)
def test_the_weights_are_those_of_the_checkpoint(name: str, tmp_path: Path) -> None:
    few, plain = written(tmp_path, name)
    report = sardonyx.hf.export(few, tmp_path / "out", verify=name == "gptq")
    assert any("14 weights of the checkpoint were in few bits" in note for note in report.notes)
    sardonyx.hf.export(plain, tmp_path / "wanted")
    assert torch.equal(logits(tmp_path / "out"), logits(tmp_path / "wanted"))


@pytest.mark.parametrize("name", ["gptq", "awq", "compressed-tensors"])
def test_four_bits_keep_their_codes(name: str, tmp_path: Path) -> None:
    few, plain = written(tmp_path, name)
    sardonyx.hf.export(few, tmp_path / "out", precision="int4")
    sardonyx.hf.export(plain, tmp_path / "wanted")
    wanted = logits(tmp_path / "wanted")
    torch.testing.assert_close(logits(tmp_path / "out"), wanted, rtol=1e-4, atol=1e-5)
    assert bytes_of_weights(tmp_path / "out") < 0.7 * bytes_of_weights(tmp_path / "wanted")


def test_weights_are_dequantized_as_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept meanwhile is scales alone: a number for each 32 weights here."""
    few, plain = written(tmp_path, "awq")
    kept: list[int] = []
    remove = job._remove

    def measured(folder: Path) -> None:
        kept.extend(path.stat().st_size for path in folder.rglob("*.safetensors"))
        remove(folder)

    monkeypatch.setattr(job, "_remove", measured)
    sardonyx.hf.export(few, tmp_path / "out")
    assert len(kept) == 14
    assert sum(kept) < (plain / "model.safetensors").stat().st_size / 4


def bytes_of_weights(folder: Path) -> int:
    models = [onnx.load(path) for path in folder.glob("*.onnx")]
    return sum(len(each.raw_data) for model in models for each in model.graph.initializer)


def test_a_layer_that_is_none(tmp_path: Path) -> None:
    few, _ = written(tmp_path, "gptq")
    held = safetensors.torch.load_file(few / "model.safetensors")
    name = "model.layers.1.mlp.up_proj"
    held[f"{name}.qzeros"] = held[f"{name}.qzeros"][:, :-1].contiguous()
    safetensors.torch.save_file(held, few / "model.safetensors")
    with pytest.raises(sardonyx.ProgramError, match=f"SX2004.*'{name}' is no layer of gptq"):
        sardonyx.hf.export(few, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_experts_in_float4(tmp_path: Path) -> None:
    """As gpt-oss has them: matrices [out, in] of blocks, which are read as [in, out]."""
    torch.manual_seed(0)
    config = transformers.GptOssConfig(
        hidden_size=64, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, head_dim=32, vocab_size=100, num_local_experts=3,
        num_experts_per_tok=2, layer_types=["full_attention"],
    )  # fmt: skip
    plain = saved(transformers.GptOssForCausalLM(config), tmp_path / "plain")
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
    exact = safetensors.torch.load_file(plain / "model.safetensors")
    held = dict(exact)
    for key in [key for key in exact if key.endswith(("gate_up_proj", "down_proj"))]:
        experts, columns, rows = held.pop(key).shape
        codes = torch.randint(0, 16, (experts, rows, columns // 32, 16, 2), dtype=torch.uint8)
        powers = torch.randint(121, 126, (experts, rows, columns // 32), dtype=torch.uint8)
        held[f"{key}_blocks"] = codes[..., 0] | codes[..., 1] << 4
        held[f"{key}_scales"] = powers
        numbers = values[codes.flatten(-2).long()] * 2.0 ** (powers.float() - 127).unsqueeze(-1)
        exact[key] = numbers.flatten(-2).transpose(1, 2).contiguous()
    few = tmp_path / "few"
    few.mkdir()
    told = json.loads((plain / "config.json").read_text())
    told["quantization_config"] = {"quant_method": "mxfp4"}
    (few / "config.json").write_text(json.dumps(told))
    safetensors.torch.save_file(held, few / "model.safetensors")
    safetensors.torch.save_file(exact, plain / "model.safetensors", metadata={"format": "pt"})
    sardonyx.hf.export(few, tmp_path / "out")
    sardonyx.hf.export(plain, tmp_path / "wanted", verify=True)
    assert torch.equal(logits(tmp_path / "out"), logits(tmp_path / "wanted"))

"""Experts whose weights are quantized are one QMoE for ONNX Runtime's CUDA provider. Its kernel and
that of the CPU provider, which the answers are checked by, read the same layout where
weights_prepacked is 0."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

import sardonyx
from sardonyx import Precision
from sardonyx._runtime.session import open_session

from .test_cuda_experts import Block, exported, gpt_oss, kinds, mixtral, olmoe, qwen2, qwen3

RUNTIME = "onnxruntime-cuda"


def quantized(block: torch.nn.Module, to: Any, **options: Any) -> tuple[onnx.ModelProto, Any]:
    standard = exported(block, runtime="standard").model_proto
    return sardonyx.optimize(standard, runtime=RUNTIME, precision=Precision(to, **options))


def experts(model: onnx.ModelProto) -> tuple[dict[str, Any], list[np.ndarray | None]]:
    """The attributes of QMoE, and its inputs that are weights."""
    (node,) = [each for each in model.graph.node if each.op_type == "QMoE"]
    weights = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    return attributes, [weights.get(name) for name in node.input]


def dequantized(
    codes: np.ndarray, scales: np.ndarray, zero_points: np.ndarray | None, bits: int
) -> np.ndarray:
    """[experts, rows, columns] of codes of `bits`, the first one of a byte in its lower half."""

    def unpacked(packed: np.ndarray) -> np.ndarray:
        if bits == 8:
            return packed.astype(np.float32)
        halves = np.stack([packed & 15, packed >> 4], -1)
        return halves.reshape(*packed.shape[:-1], -1).astype(np.float32)

    blocks = unpacked(codes).reshape(*scales.shape, -1)
    zeros = np.full(scales.shape, 1 << (bits - 1), np.float32)
    if zero_points is not None:
        zeros = unpacked(zero_points)[..., : scales.shape[-1]]
    values: np.ndarray = (blocks - zeros[..., None]) * scales[..., None].astype(np.float32)
    return values.reshape(*codes.shape[:2], -1)


def with_matrices(block: Block, first: np.ndarray, second: np.ndarray, halves: bool) -> Block:
    """The block with the matrices that QMoE has, whose rows are outputs."""
    result = copy.deepcopy(block)
    found: Any = result.block.experts
    if halves:
        first = np.concatenate([first[:, ::2], first[:, 1::2]], 1)
    for name, rows in (("gate_up_proj", first), ("down_proj", second)):
        weight = getattr(found, name)
        turned = rows if halves else rows.transpose(0, 2, 1)
        assert weight.shape == turned.shape
        weight.data = torch.from_numpy(np.ascontiguousarray(turned))
    return result


@pytest.mark.parametrize(
    ("to", "symmetric", "block_size"),
    [("fp16+int4", True, 32), ("fp16+int4", False, 32), ("fp16+int8", True, 64),
     ("fp16+int8", False, 32)],
)  # fmt: skip
@pytest.mark.parametrize("make", [gpt_oss, mixtral])
def test_answers_are_those_of_the_dequantized_weights(
    make: Any, to: Any, symmetric: bool, block_size: int
) -> None:
    block = make()
    mixed = {"router" if make is gpt_oss else r"gate\.weight": "keep"}
    made, _ = quantized(block, to, symmetric=symmetric, block_size=block_size, mixed=mixed)
    bits = 4 if to.endswith("4") else 8
    attributes, inputs = experts(made)
    assert attributes["expert_weight_bits"] == bits
    assert attributes["block_size"] == block_size
    assert attributes["weights_prepacked"] == 0
    zeros = (None, None) if symmetric else (inputs[11], inputs[12])
    assert len(inputs) <= (8 if symmetric else 13)
    first = dequantized(inputs[2], inputs[3], zeros[0], bits)
    second = dequantized(inputs[5], inputs[6], zeros[1], bits)
    assert first.shape == (5, 256, 64)
    assert second.shape == (5, 64, 128)
    reference = with_matrices(block, first, second, halves=make is mixtral)
    session = open_session(made.SerializeToString())
    for tokens in (1, 90):
        x = torch.randn(1, tokens, 64, generator=torch.Generator().manual_seed(tokens))
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        expected = reference(x).detach().numpy()
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        # A token whose second and third expert are as good goes to either.
        errors = np.abs(found - expected).max(-1) / np.abs(expected).max()
        # The kernel rounds what it multiplies codes of 8 bits by to 8 bits, too.
        assert np.median(errors) < (5e-3 if bits == 4 else 2e-2)
        assert (errors > 5e-2).mean() < 0.05


@pytest.mark.parametrize(
    ("make", "products"), [(gpt_oss, 1), (mixtral, 1), (qwen3, 1), (olmoe, 1), (qwen2, 5)]
)
def test_a_block_is_one_node(make: Any, products: int) -> None:
    made, report = quantized(make(), "fp16+int4")
    onnx.checker.check_model(made)
    found = kinds(made)
    assert found["QMoE"] == 1
    assert found["MatMulNBits"] == products
    # From float32 and back, for the inputs and outputs alone.
    assert found["Cast"] == 2
    assert len(made.graph.node) == (6 if products == 1 else 16)
    held = {each.name: each.type for each in report.weights}
    assert [kind for name, kind in held.items() if "gate_up_proj_" in name and "bias" not in name]
    assert not [name for name in held if name.endswith("gate_up_proj")]


def test_codes_are_refreshed() -> None:
    block, other = mixtral(), mixtral()
    program = exported(block, runtime="standard")
    sardonyx.optimize(program, runtime=RUNTIME, precision="fp16+int4")
    for parameter in other.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    program.refresh(other.state_dict())
    expected, _ = quantized(other, "fp16+int4")
    attributes, inputs = experts(program.model_proto)
    assert attributes == experts(expected)[0]
    for one, another in zip(inputs, experts(expected)[1], strict=True):
        np.testing.assert_array_equal(one, another)


@pytest.mark.parametrize("pattern", ["experts\\.down_proj", r"down_proj\.3$", "MoE"])
def test_experts_of_an_operator_have_as_many_bits(pattern: str) -> None:
    """A pattern that names one of the two weights, or an expert, names them all."""
    made, _ = quantized(mixtral(), "fp16+int4", mixed={pattern: "int8"})
    assert experts(made)[0]["expert_weight_bits"] == 8
    made, report = quantized(mixtral(), "fp16+int4", mixed={pattern: "keep"})
    assert kinds(made)["MoE"] == 1
    assert kinds(made)["QMoE"] == 0
    reasons = [each.reason for each in report.declined if each.rule == "precision"]
    assert "it is to be kept" in reasons


@pytest.mark.parametrize("block_size", [16, 256])
def test_blocks_that_the_kernel_does_not_take_stay_in_products(block_size: int) -> None:
    made, _ = quantized(mixtral(), "fp16+int4", block_size=block_size)
    assert kinds(made)["MoE"] == kinds(made)["QMoE"] == 0

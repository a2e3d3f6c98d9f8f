"""Quantization: quantized_decomposed, torchao, fake quantization, MatMuls of quantized tensors."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
import torch.nn.functional as F

from tests.operators.check import Case, check, table, uncapturable
from tests.operators.inputs import floats, ints, of, positive
from tests.operators.torchao_operators import register
from tests.opinfo.rules import scaled

register()
aten = torch.ops.aten
ao = torch.ops.torchao
qd = torch.ops.quantized_decomposed
I8, U8, I16, I32 = torch.int8, torch.uint8, torch.int16, torch.int32
E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2

X = floats(3, 8) * 3
SCALE = positive(3, seed=11) / 16
SCALES = positive(8, seed=12) / 16
ZEROS = ints(3, low=-5, high=6)
CHANNEL_ZEROS = ints(8)
ROW = floats(1, 16)
WEIGHT = ints(8, 16, low=-128, high=128, dtype=I8)
WEIGHT_SCALES = positive(8)
BLOCK_SCALES = positive(8, 2)
Q = ints(3, 8, low=-128, high=128, dtype=I8)
U = ints(3, 8, low=0, high=256, dtype=U8)

# What torch.export says where sizes vary.
NO_FAKE = "UnsupportedOperatorException: aten._fake_quantize_per_tensor_affine_cachemask"


@table(
    (lambda x: qd.quantize_per_tensor(x, 0.03, 5, -128, 127, I8), X),
    (lambda x: qd.quantize_per_tensor(x, 0.03, 128, 0, 255, U8), X),
    (lambda x: qd.quantize_per_tensor(x, 0.03, 0, -127, 127, I8), X * 4),
    (lambda x: qd.quantize_per_tensor(x, 0.03, 60, 0, 127, U8), X * 4),
    (lambda x: qd.quantize_per_tensor(x, 0.003, 5, -32768, 32767, I16), X),
    (lambda x: qd.quantize_per_tensor(x, 0.0003, 0, -(2**31), 2**31 - 1, I32), X),
    (
        lambda x: qd.quantize_per_tensor(x, 0.5, 0, -128, 127, I8),
        of(0.25, 0.75, 1.25, -0.25, -0.75),
    ),
    (lambda x: qd.quantize_per_tensor(x, 0.1, 0, -128, 127, I8), X.half()),
    (lambda x: qd.quantize_per_tensor(x, 0.1, 0, -128, 127, I8), X.bfloat16()),
    (lambda x: qd.quantize_per_tensor(x, 0.1, 0, -448, 448, E4).float(), X),
    (lambda x: qd.quantize_per_tensor(x, 0.1, 0, -128, 127, I8), torch.zeros(0, 3)),
    (lambda x: qd.quantize_per_tensor(x, 0.1, 0, -128, 127, I8), torch.tensor(0.32)),
    (lambda x, s, z: qd.quantize_per_tensor.tensor(x, s, z, -128, 127, I8), X, of(0.03), of(4)),
    (
        lambda x, s, z: qd.quantize_per_tensor.tensor(x, s, z, 0, 255, U8),
        X,
        torch.tensor(0.03, dtype=torch.float64),
        torch.tensor(100),
    ),
    (
        lambda x: qd.quantize_per_tensor.tensor2(
            x, of(0.03), of(4), torch.tensor(-128), torch.tensor(127), I8
        ),
        X,
    ),
    (lambda q: qd.dequantize_per_tensor(q, 0.03, 5, -128, 127, I8), Q),
    (lambda q: qd.dequantize_per_tensor(q, 0.03, 128, 0, 255, U8), U),
    (lambda q: qd.dequantize_per_tensor(q, 0.03, 5, -32768, 32767, I16), Q.to(I16) * 100),
    (lambda q: qd.dequantize_per_tensor(q, 0.03, 5, -(2**31), 2**31 - 1, I32), Q.to(I32) * 1000),
    (lambda q: qd.dequantize_per_tensor(q, 0.03, 5, -128, 127, I8, out_dtype=torch.float16), Q),
    (lambda q, s, z: qd.dequantize_per_tensor.tensor(q, s, z, -128, 127, I8), Q, of(0.03), of(4)),
    (lambda x, s, z: qd.quantize_per_channel(x, s, z, 0, -128, 127, I8), X, SCALE, ZEROS),
    (lambda x, s: qd.quantize_per_channel(x, s, CHANNEL_ZEROS + 100, 1, 0, 255, U8), X, SCALES),
    (lambda x, s: qd.quantize_per_channel(x, s, CHANNEL_ZEROS, -1, -127, 127, I8), X * 4, SCALES),
    (lambda x, s: qd.quantize_per_channel(x, s, CHANNEL_ZEROS, 1, -2000, 2000, I32), X, SCALES),
    (
        lambda x, s: qd.quantize_per_channel(x, s.double(), CHANNEL_ZEROS, 1, -128, 127, I8),
        X,
        SCALES,
    ),
    (lambda q, s, z: qd.dequantize_per_channel(q, s, z, 0, -128, 127, I8), Q, SCALE, ZEROS),
    (lambda q, s: qd.dequantize_per_channel(q, s, None, 1, -128, 127, I8), Q, SCALES),
    (
        lambda q, s: qd.dequantize_per_channel(q, s, None, 1, 0, 255, U8, out_dtype=torch.bfloat16),
        U,
        SCALES,
    ),
    (lambda q, s, z: qd.dequantize_per_channel(q, s, z + 0.5, 0, -128, 127, I8), Q, SCALE, ZEROS),
    (
        lambda x, s, z: qd.quantize_per_token(x, s, z, -128, 127, I8),
        X,
        SCALE[:, None],
        ZEROS[:, None],
    ),
    (
        lambda x, s, z: qd.quantize_per_token(x, s, z, -128, 127, I8),
        X,
        SCALE[:, None].double(),
        ZEROS[:, None],
    ),
    (
        lambda q, s, z: qd.dequantize_per_token(q, s, z, -128, 127, I8, torch.float32),
        Q,
        SCALE[:, None],
        ZEROS[:, None],
    ),
    (
        lambda x, s, z: qd.quantize_per_channel_group(x, s, z, -8, 7, I8, 4),
        X,
        positive(3, 2),
        ints(3, 2, low=-2, high=3),
    ),
    (
        lambda q, s, z: qd.dequantize_per_channel_group(q, s, z, -8, 7, I8, 4, torch.float32),
        Q,
        positive(3, 2),
        ints(3, 2, low=-2, high=3),
    ),
    (
        lambda q, s: qd.dequantize_per_channel_group(q, s, None, -8, 7, I8, 2, torch.float16),
        Q,
        positive(3, 4),
    ),
    (
        lambda x: qd.quantize_per_tensor.tensor(
            x, *qd.choose_qparams.tensor(x, -128, 127, 1e-5, I8), -128, 127, I8
        ),
        X,
    ),
    (
        lambda x: qd.quantize_per_tensor.tensor(
            x, *qd.choose_qparams.tensor(x, 0, 255, 1e-5, U8), 0, 255, U8
        ),
        X.abs(),
    ),
    (lambda x: qd.choose_qparams.tensor(x, -128, 127, 1e-5, I8), X),
    (lambda x: qd.choose_qparams.tensor(x, -128, 127, 1e-5, I8), torch.zeros(2, 3)),
    (lambda x: qd.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, I8), X),
    (lambda x: qd.choose_qparams_symmetric.tensor(x, 0, 255, 1e-5, U8), X),
    (lambda x: qd.choose_qparams_per_token_asymmetric(x, I8), X),
    (
        lambda x: qd.quantize_per_token(
            x, *qd.choose_qparams_per_token_asymmetric(x, I8), -128, 127, I8
        ),
        X,
    ),
    (lambda x, s, z: qd.fake_quant_per_channel(x, s, z, 0, -8, 7), X, SCALE * 4, ZEROS),
    (lambda x: qd.convert_element_type.no_fuse(x, torch.float16), X),
)
def test_decomposed(case: Case) -> None:
    check(case)


# torch.export captures fake quantization once these operators have fake implementations, which
# PyTorch itself lacks.
for name in ("per_tensor_affine", "per_channel_affine"):

    @torch.library.register_fake(f"aten::fake_quantize_{name}_cachemask")
    def _shapes(x: torch.Tensor, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)


FAKE: Any = torch.fake_quantize_per_tensor_affine
FAKE_CHANNEL: Any = torch.fake_quantize_per_channel_affine


@table(
    (lambda x: FAKE(x, 0.03, 5, -128, 127), X),
    (lambda x: FAKE(x, 0.03, 128, 0, 255), X),
    (lambda x: FAKE(x, 0.3, 4, 0, 15), X),
    (lambda x: FAKE(x, 0.03, 0, -127, 127), X * 4),
    (lambda x: FAKE(x, 0.003, 7, -32768, 32767), X),
    (lambda x: FAKE(x, 0.003, 7, -70000, 70000), X),
    (lambda x: FAKE(x, 0.03, 5, -128, 127), X.half()),
    (lambda x: FAKE(x, 0.03, 5, -128, 127), X.double()),
    uncapturable(NO_FAKE, lambda x, s, z: FAKE(x, s, z, -128, 127), X, of(0.03), of(4, dtype=I32)),
    (lambda x: aten.fake_quantize_per_tensor_affine_cachemask(x, 0.03, 5, -128, 127), X * 2),
    uncapturable(
        NO_FAKE,
        lambda x, s, z, e: aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            x, s, z, e, -128, 127
        ),
        X * 2,
        of(0.03),
        of(4, dtype=I32),
        of(0),
    ),
    (lambda x, s, z: FAKE_CHANNEL(x, s, z, 0, -128, 127), X, SCALE, ZEROS.to(I32)),
    (lambda x, s, z: FAKE_CHANNEL(x, s, z, 0, -8, 7), X, SCALE * 4, ZEROS.to(I32)),
    (lambda x, s: FAKE_CHANNEL(x, s, CHANNEL_ZEROS.float() + 0.25, 1, -128, 127), X, SCALES),
    (
        lambda x, s, z: aten.fake_quantize_per_channel_affine_cachemask(x, s, z, 0, -128, 127),
        X * 3,
        SCALE,
        ZEROS.to(I32),
    ),
    uncapturable(
        "UnsupportedOperatorException: aten._fake_quantize_learnable_per_tensor_affine",
        lambda x, s, z: aten._fake_quantize_learnable_per_tensor_affine(x, s, z, -128, 127),
        X,
        of(0.03),
        of(4.6),
    ),
)
def test_fake(case: Case) -> None:
    check(case)


@table(
    (
        lambda x, s, z: ao.quantize_affine(x, [3, 8], s, z, I8, -128, 127),
        X,
        of(0.03),
        of(4, dtype=I32),
    ),
    (lambda x, s, z: ao.quantize_affine(x, [3, 8], s, z, U8), X, of(0.03), of(100, dtype=I32)),
    (lambda x, s, z: ao.quantize_affine(x, [1, 8], s, z, I8, -128, 127), X, SCALE, ZEROS.to(I32)),
    (
        lambda x, s, z: ao.quantize_affine(x, [1, 4], s, z, I8, -8, 7),
        X,
        positive(3, 2),
        ints(3, 2, dtype=I32, low=-2, high=3),
    ),
    (
        lambda x, s, z: ao.quantize_affine(x, [3, 4], s, z, I8, -128, 127),
        X,
        positive(1, 2) / 16,
        ints(1, 2, dtype=I32),
    ),
    (
        lambda x, s, z: ao.quantize_affine(x, [1, 1, 8], s, z, I8, -128, 127),
        floats(2, 3, 8),
        positive(2, 3) / 16,
        ints(2, 3, dtype=I32),
    ),
    (
        lambda x, s, z: ao.quantize_affine(x, [1, 8], s, z, I8, -128, 127),
        X.bfloat16(),
        SCALE.bfloat16(),
        ZEROS.to(I32),
    ),
    (
        lambda q, s, z: ao.dequantize_affine(q, [3, 8], s, z, I8, -128, 127),
        Q,
        of(0.03),
        of(4, dtype=I32),
    ),
    (lambda q, s, z: ao.dequantize_affine(q, [1, 8], s, z, I8, -128, 127), Q, SCALE, ZEROS.to(I32)),
    (lambda q, s: ao.dequantize_affine(q, [1, 4], s, None, I8, -8, 7), Q, positive(3, 2)),
    (
        lambda q, s: ao.dequantize_affine(q, [3, 4], s, None, U8, output_dtype=torch.float16),
        U,
        positive(1, 2) / 16,
    ),
    (
        lambda q, s: ao.dequantize_affine(q, [1, 1, 4], s, None, I8),
        ints(2, 3, 8, dtype=I8),
        positive(2, 3, 2),
    ),
    (
        lambda x: ao.choose_qparams_affine(
            x, "ASYMMETRIC", [1, 8], I8, -128, 127, 1e-6, torch.float32, I32
        ),
        X,
    ),
    (lambda x: ao.choose_qparams_affine(x, "SYMMETRIC", [3, 4], I8), X),
    # Each row's extreme is -127.5 scales, more or less.
    (
        lambda x: ao.quantize_affine(
            x, [1, 8], *ao.choose_qparams_affine(x, "SYMMETRIC", [1, 8], I8), I8
        ),
        -positive(64, 8),
    ),
    (
        lambda x: ao.choose_qparams_affine(
            x, "SYMMETRIC_NO_CLIPPING_ERR", [1, 4], I8, -8, 7, keepdim=True
        ),
        X,
    ),
    (lambda x: ao.quantize_affine_float8_non_decomposed(x, of(0.02), E4).float(), X),
    (lambda x: ao.quantize_affine_float8_non_decomposed(x, SCALE[:, None], E5).float(), X),
    (lambda x, s: ao.dequantize_affine_float8_non_decomposed(x.to(E4), s), X, positive(3, 2)),
    (lambda x: ao.choose_scale_float8(x, [1, 8]), X),
)
def test_torchao(case: Case) -> None:
    check(case)


@table(
    (
        lambda a, b: aten._int_mm(a, b),
        ints(24, 16, low=-128, high=128, dtype=I8),
        ints(16, 8, low=-128, high=128, dtype=I8),
    ),
    # The kernel wants its sizes as they are: only the rows may vary.
    (lambda x: aten._weight_int8pack_mm(x * ROW, WEIGHT, WEIGHT_SCALES), floats(4, 1)),
    (
        lambda x: aten._weight_int8pack_mm(x * ROW.bfloat16(), WEIGHT, WEIGHT_SCALES.bfloat16()),
        floats(4, 1).bfloat16(),
    ),
    (
        lambda x: F.linear(
            x * ROW, qd.dequantize_per_channel(WEIGHT, WEIGHT_SCALES, None, 0, -128, 127, I8)
        ),
        floats(4, 1),
    ),
    (
        lambda x: F.linear(x * ROW, qd.dequantize_per_tensor(WEIGHT, 0.03, 0, -128, 127, I8)),
        floats(4, 1),
    ),
    (
        lambda x: F.linear(
            x * ROW,
            qd.dequantize_per_channel_group(
                WEIGHT, BLOCK_SCALES, None, -128, 127, I8, 8, torch.float32
            ),
        ),
        floats(4, 1),
    ),
    (
        lambda x: F.linear(
            qd.dequantize_per_tensor(
                qd.quantize_per_tensor(x * ROW, 0.02, 3, -128, 127, I8), 0.02, 3, -128, 127, I8
            ),
            qd.dequantize_per_channel(WEIGHT, WEIGHT_SCALES, None, 0, -128, 127, I8),
        ),
        floats(4, 1),
    ),
    (
        lambda a, b: aten._scaled_mm(
            a.to(E4), b.to(E4).t(), of(0.5), of(2.0), out_dtype=torch.float32
        ),
        floats(16, 32),
        floats(16, 32),
    ),
    (
        lambda a, b, c: aten._scaled_mm(
            a.to(E4), b.to(E4).t(), of(0.5), of(2.0), c, out_dtype=torch.bfloat16
        ),
        floats(16, 32),
        floats(16, 32),
        floats(16).bfloat16(),
    ),
)
def test_products(case: Case) -> None:
    check(case, scaled)


# ONNX Runtime multiplies quantized tensors as integers, with scales for columns of the second
# operand only. It also rounds floating-point activations of 8-bit weights to 8 bits.
SQUARE = ints(32, 32, low=-60, high=60, dtype=I8)
ENTRIES = positive(32) * 0.01


def rounded(x: torch.Tensor) -> torch.Tensor:
    q = qd.quantize_per_tensor(x, 0.05, 3, -128, 127, I8)
    return qd.dequantize_per_tensor(q, 0.05, 3, -128, 127, I8)


def unsigned(x: torch.Tensor) -> torch.Tensor:
    q = qd.quantize_per_tensor(x, 0.01, 128, 0, 255, U8)
    return qd.dequantize_per_tensor(q, 0.01, 128, 0, 255, U8)


def full(axis: int) -> torch.Tensor:
    """With all of int8, whose products with uint8 do not fit 16 bits in pairs."""
    return qd.dequantize_per_channel(SQUARE * 2, ENTRIES, None, axis, -128, 127, I8)


def by_entries(axis: int) -> torch.Tensor:
    return qd.dequantize_per_channel(SQUARE, ENTRIES, None, axis, -128, 127, I8)


@table(
    (lambda x: x @ by_entries(0), floats(4, 32)),
    (lambda x: x @ by_entries(1), floats(4, 32)),
    (lambda x: x @ by_entries(1), floats(2, 4, 32)),
    (lambda x: rounded(x) @ by_entries(0), floats(2, 4, 32)),
    (lambda x: rounded(x) @ by_entries(1), floats(2, 4, 32)),
    (lambda x: by_entries(0) @ rounded(x), floats(32, 4)),
    (lambda x: by_entries(1) @ rounded(x), floats(32, 4)),
    (lambda x: F.linear(x, by_entries(0)), floats(2, 4, 32)),
    (lambda x: F.linear(rounded(x), by_entries(0)), floats(4, 32)),
    (lambda x: F.linear(rounded(x), by_entries(1)), floats(4, 32)),
    (lambda x: F.linear(rounded(x), by_entries(1)), floats(2, 4, 32)),
    (lambda x: F.conv2d(rounded(x), by_entries(0)[:, :, None, None]), floats(1, 32, 4, 4)),
    (lambda x: F.conv2d(rounded(x), by_entries(1)[:, :, None, None]), floats(1, 32, 4, 4)),
    (lambda x: unsigned(x) @ full(1), floats(4, 32)),
    (lambda x: unsigned(x) @ full(1), floats(2, 4, 32)),
    (lambda x: unsigned(x.view(8, 32)) @ full(1), floats(2, 4, 32)),
    (lambda x: F.linear(unsigned(x), full(0)), floats(4, 32)),
    (lambda x: F.linear(unsigned(x), full(0), ENTRIES), floats(2, 4, 32)),
    (lambda x: unsigned(F.linear(unsigned(x), full(0))), floats(4, 32)),
    (lambda x: unsigned(F.conv2d(unsigned(x), full(0)[:, :, None, None])), floats(1, 32, 4, 4)),
    (
        lambda x: unsigned(F.conv2d(unsigned(x), full(0)[:, :16, None, None], groups=2)),
        floats(1, 32, 4, 4),
    ),
    (
        lambda x, w: (
            unsigned(x)
            @ qd.dequantize_per_tensor(w, torch.tensor(0.1), torch.tensor(5), -128, 127, I8)
        ),
        floats(4, 32),
        SQUARE * 2,
    ),
    (lambda x: x @ qd.dequantize_per_tensor(SQUARE, 0.01, 2, -128, 127, I8), floats(2, 4, 32)),
)
def test_products_of_scales_of_either_axis(case: Case) -> None:
    check(case)

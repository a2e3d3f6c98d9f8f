"""Contrib operators compared with the nodes that Sardonyx would emit otherwise.

`make bench-kernels` takes interleaved runs on one thread and prints a table. Its figures are those
of `measured` in `src/targets/onnxruntime/fusions/fusions.cpp`, from which docs/targets.md has them.
Below 1, the operator of `com.microsoft` is faster. The nodes that it is compared with are optimized
by ONNX Runtime, as in any model.

`make bench-kernels PROVIDER=cuda` does so in float16 on a GPU, with inputs and outputs bound there.
Without one, it runs both forms on the CPU once, and checks by `tools/kernels/cuda` that the
provider has the operators.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime

_RECORDS = Path(__file__).resolve().parent.parent / "tools" / "kernels"
_CUDA = "CUDAExecutionProvider"
_SECONDS = 1.5
_LEAST_ROUNDS = 9
_MOST = 1e-2  # of answers of both forms

Feeds = dict[str, np.ndarray[Any, Any]]


@dataclass
class Case:
    """What a fusion replaces and what it makes, as the bodies of two graphs."""

    fusion: str
    sizes: str
    plain: str
    fused: str
    feeds: Feeds
    outputs: tuple[str, ...] = ("y",)


def _floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32) * np.float32(0.1)


def _session(body: str, case: Case, provider: str) -> onnxruntime.InferenceSession:
    """Of `y = Op(x) ...`, whose inputs are the feeds; those called w... are weights."""
    feeds = case.feeds
    kind = "float16" if provider == _CUDA else "float"
    types = {"float32": "float", "int64": "int64", "int32": "int32", "bool": "bool"}
    types["float16"] = "float16"
    inputs = ", ".join(
        f"{types[value.dtype.name]}[{', '.join(map(str, value.shape))}] {name}"
        for name, value in feeds.items()
        if not name.startswith("w")
    )
    outputs = ", ".join(f"{kind} {name}" for name in case.outputs)
    text = (
        '<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]>\n'
        f"g ({inputs}) => ({outputs}) {{ {body} }}"
    )
    model = onnx.parser.parse_model(text.replace("msft.", "com.microsoft."))
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name)
        for name, value in feeds.items()
        if name.startswith("w") and re.search(rf"\b{name}\b", body)
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=[provider])


def _skip_normalization(tokens: int, width: int) -> Iterator[Case]:
    feeds = {"a": _floats(1, tokens, width), "b": _floats(1, tokens, width)}
    weights = {"w": _floats(width), "wb": _floats(width)}
    sizes = f"{tokens} x {width}"
    yield Case(
        "skip-layer-normalization",
        sizes,
        "s = Add(a, b) r = Identity(s) y = LayerNormalization<axis=-1>(s, w, wb)",
        "y, m, n, r = msft.SkipLayerNormalization<epsilon=0.00001>(a, b, w, wb)",
        feeds | weights,
        ("y", "r"),
    )
    yield Case(
        "skip-rms-normalization",
        sizes,
        "s = Add(a, b) r = Identity(s) y = RMSNormalization<axis=-1>(s, w)",
        "y, m, n, r = msft.SkipSimplifiedLayerNormalization<epsilon=0.00001>(a, b, w)",
        feeds | {"w": weights["w"]},
        ("y", "r"),
    )


def _rms_normalization(tokens: int, width: int) -> Iterator[Case]:
    yield Case(
        "rms-normalization",
        f"{tokens} x {width}",
        "y = RMSNormalization<axis=-1>(a, w)",
        "y = SimplifiedLayerNormalization<axis=-1>(a, w)",
        {"a": _floats(1, tokens, width), "w": _floats(width)},
    )


def _activations(tokens: int, width: int) -> Iterator[Case]:
    feeds = {"a": _floats(1, tokens, width)}
    sizes = f"{tokens} x {width}"
    yield Case(
        "bias-gelu",
        sizes,
        "s = Add(a, w) y = Gelu(s)",
        "y = msft.BiasGelu(a, w)",
        feeds | {"w": _floats(width)},
    )
    yield Case("fast-gelu", sizes, 'y = Gelu<approximate="tanh">(a)', "y = msft.FastGelu(a)", feeds)
    yield Case(
        "fast-gelu",
        f"{sizes}, with a bias",
        's = Add(a, w) y = Gelu<approximate="tanh">(s)',
        "y = msft.FastGelu(a, w)",
        feeds | {"w": _floats(width)},
    )
    yield Case(
        "quick-gelu",
        sizes,
        "s = Sigmoid(a) y = Mul(a, s)",
        "y = msft.QuickGelu<alpha=1.0>(a)",
        feeds,
    )


def _convolutions(channels: int, size: int) -> Iterator[Case]:
    feeds = {"a": _floats(1, channels, size, size), "w": _floats(channels, channels, 3, 3)}
    sizes = f"{channels} x {size} x {size}"
    yield Case(
        "fused-conv",
        sizes,
        "c = Conv<pads=[1, 1, 1, 1]>(a, w) y = Relu(c)",
        'y = msft.FusedConv<pads=[1, 1, 1, 1], activation="Relu">(a, w)',
        feeds,
    )
    yield Case(
        "fused-conv",
        f"{sizes}, of a sum",
        "c = Conv<pads=[1, 1, 1, 1]>(a, w) s = Add(c, a) y = Relu(s)",
        'y = msft.FusedConv<pads=[1, 1, 1, 1], activation="Relu">(a, w, , a)',
        feeds,
    )


def _products(tokens: int, width: int) -> Iterator[Case]:
    yield Case(
        "scaled-product",
        f"12 x {tokens} x {width}",
        "t = Transpose<perm=[0,1,3,2]>(b) p = MatMul(a, t) "
        "c = Constant<value=float {0.125}>() y = Mul(p, c)",
        "y = msft.FusedMatMul<alpha=0.125, transB=1>(a, b)",
        {"a": _floats(1, 12, tokens, width), "b": _floats(1, 12, tokens, width)},
    )


def _attention(batch: int, tokens: int, heads: int, size: int) -> Iterator[Case]:
    q = _floats(batch, tokens, heads * size)
    bias = np.zeros((batch, 1, 1, tokens), np.float32).repeat(tokens, 2)
    for sizes, mask in (("", {}), (", masked", {"m": bias})):
        names = "q, k, v, m" if mask else "q, k, v"
        other = "q, k, v, , , m" if mask else "q, k, v"
        yield Case(
            "multi-head-attention",
            f"{batch} x {tokens}, {heads} heads of {size}{sizes}",
            f"y = Attention<q_num_heads={heads}, kv_num_heads={heads}>({names})",
            f"y = msft.MultiHeadAttention<num_heads={heads}>({other})",
            {"q": q, "k": q * np.float32(0.5), "v": q + np.float32(1)} | mask,
        )


def _packed_attention(batch: int, tokens: int, heads: int, size: int) -> Iterator[Case]:
    width = heads * size
    bias = np.zeros((batch, 1, 1, tokens), np.float32).repeat(tokens, 2)
    packed, packed_bias = _floats(width, 3 * width), _floats(3 * width)
    weights = dict(zip(("wq", "wk", "wv"), np.split(packed, 3, axis=1), strict=True))
    biases = dict(zip(("wbq", "wbk", "wbv"), np.split(packed_bias, 3), strict=True))
    products = " ".join(f"p{x} = MatMul(x, w{x}) {x} = Add(p{x}, wb{x})" for x in "qkv")
    counts = f"q_num_heads={heads}, kv_num_heads={heads}"
    yield Case(
        "packed-attention",
        f"{batch} x {tokens}, {heads} heads of {size}, masked",
        f"{products} y = Attention<{counts}>(q, k, v, m)",
        f"o = msft.Attention<num_heads={heads}>(x, w, wb, , , m) y = Mul(o, any)",
        {"x": _floats(batch, tokens, width), "m": bias, "w": packed, "wb": packed_bias}
        | {"any": np.ones((batch, tokens, 1), np.float32)}
        | weights
        | biases,
    )


def _cached(tokens: int, past: int, heads: int, groups: int, size: int) -> Iterator[Case]:
    total = past + tokens
    angles = np.outer(np.arange(total), 10000.0 ** (-np.arange(size // 2) / (size // 2)))
    mask = np.tril(np.ones((total, total), bool))[past:]
    bias = np.where(mask, np.float32(0), np.finfo(np.float32).min)[None, None].astype(np.float32)
    feeds = {
        "q": _floats(1, tokens, heads * size),
        "k": _floats(1, tokens, groups * size),
        "v": _floats(1, tokens, groups * size),
        "c": _floats(1, groups, past, size),
        "d": _floats(1, groups, past, size),
        "m": bias,
        "cos": np.cos(angles).astype(np.float32),
        "sin": np.sin(angles).astype(np.float32),
    }
    counts = f"q_num_heads={heads}, kv_num_heads={groups}"
    sizes = f"{tokens} after {past}, {heads} heads of {size} in {groups} groups"
    rotate = (
        f"a = RotaryEmbedding<num_heads={heads}>(q, cos, sin, p) "
        f"b = RotaryEmbedding<num_heads={groups}>(k, cos, sin, p) "
    )
    plain = rotate + f"y, e, f = Attention<{counts}>(a, b, v, m, c, d)"
    counts = f"num_heads={heads}, kv_num_heads={groups}"
    positions = np.arange(past, total, dtype=np.int64)[None]
    lengths = {"l": np.array([total - 1], np.int32), "t": np.array(total, np.int32)}
    yield Case(
        "group-query-attention",
        sizes,
        plain,
        f"y, e, f = msft.GroupQueryAttention<{counts}, do_rotary=1>(q, k, v, c, d, l, t, cos, sin)",
        feeds | {"p": positions} | lengths,
        ("y", "e", "f"),
    )


def _packed_groups(tokens: int, heads: int, groups: int, size: int) -> Iterator[Case]:
    """Products of queries, keys and values, as three and as one."""
    width = heads * size
    parts = {"wq": width, "wk": groups * size, "wv": groups * size}
    packed = _floats(width, sum(parts.values()))
    offsets = np.cumsum(list(parts.values()))[:-1]
    weights = dict(zip(parts, np.split(packed, offsets, axis=1), strict=True))
    attend = f"msft.GroupQueryAttention<num_heads={heads}, kv_num_heads={groups}>"
    yield Case(
        "packed-groups",
        f"{tokens}, {heads} heads of {size} in {groups} groups",
        f"q = MatMul(x, wq) k = MatMul(x, wk) v = MatMul(x, wv) y = {attend}(q, k, v, , , l, t)",
        f"p = MatMul(x, w) y = {attend}(p, , , , , l, t)",
        {"x": _floats(1, tokens, width), "w": packed}
        | {"l": np.array([tokens - 1], np.int32), "t": np.array(tokens, np.int32)}
        | weights,
    )


def _packed_products(tokens: int, width: int) -> Iterator[Case]:
    """Queries, keys and values by three products of one input, and by one and a Split, to where
    their heads are apart. In neither is anything of the runtime's own."""
    weights = {f"w{x}": _floats(width, width) for x in "qkv"}
    biases = {f"wb{x}": _floats(width) for x in "qkv"}
    heads = " ".join(
        f"r{x} = Reshape({x}, wshape) t{x} = Transpose<perm=[0, 2, 1, 3]>(r{x})" for x in "qkv"
    )
    sums = " ".join(f"p{x} = MatMul(x, w{x}) {x} = Add(p{x}, wb{x})" for x in "qkv")
    yield Case(
        "packed-products",
        f"{tokens} x {width}",
        f"{sums} {heads}",
        f"p = MatMul(x, w) s = Add(p, wb) q, k, v = Split<axis=-1, num_outputs=3>(s) {heads}",
        {"x": _floats(1, tokens, width), "wshape": np.array([0, 0, -1, 32])}
        | {"w": np.concatenate(list(weights.values()), 1), "wb": np.concatenate([*biases.values()])}
        | weights
        | biases,
        ("tq", "tk", "tv"),
    )


def cases() -> Iterator[Case]:
    for tokens in (1, 16, 128, 512):
        yield from _rms_normalization(tokens, 1024)
        yield from _packed_groups(tokens, 16, 4, 64)
        yield from _skip_normalization(tokens, 768)
        yield from _skip_normalization(tokens, 1024)
        yield from _activations(tokens, 3072)
    for tokens in (32, 128):
        yield from _products(tokens, 64)
    for tokens, width in ((1, 32), (16, 32), (3136, 96), (784, 192), (1, 768), (128, 768)):
        yield from _packed_products(tokens, width)
    for channels, size in ((16, 8), (64, 56), (256, 14)):
        yield from _convolutions(channels, size)
    for batch, tokens in ((1, 16), (1, 128), (8, 128), (1, 512)):
        yield from _attention(batch, tokens, 12, 64)
        yield from _packed_attention(batch, tokens, 12, 64)
    for tokens, past in ((1, 0), (1, 128), (1, 512), (1, 2048), (128, 0), (512, 0)):
        yield from _cached(tokens, past, 16, 4, 64)


def _turns(run: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Seconds of each; whoever begins changes from round to round."""
    times: dict[str, list[float]] = {name: [] for name in run}
    order = list(run)
    began = time.perf_counter()
    while len(times[order[0]]) < _LEAST_ROUNDS or time.perf_counter() - began < _SECONDS:
        for name in order:
            start = time.perf_counter()
            run[name]()
            times[name].append(time.perf_counter() - start)
        order.reverse()
    return times


def _runs(case: Case, provider: str) -> dict[str, Callable[[], list[Any]]]:
    """Of both forms, by name."""
    if provider == _CUDA:
        halves = {
            name: value.astype(np.float16) if value.dtype == np.float32 else value
            for name, value in case.feeds.items()
        }
        case = replace(case, feeds=halves)

    def run(body: str) -> Callable[[], list[Any]]:
        session = _session(body, case, provider)
        known = {each.name for each in session.get_inputs()}
        given = {key: value for key, value in case.feeds.items() if key in known}
        if provider != _CUDA:
            return lambda: list(session.run(None, given))
        binding = session.io_binding()
        for name, value in given.items():
            there = onnxruntime.OrtValue.ortvalue_from_numpy(value, "cuda", 0)
            binding.bind_ortvalue_input(name, there)
        for each in session.get_outputs():
            binding.bind_output(each.name, "cuda")

        def on_gpu() -> list[Any]:
            session.run_with_iobinding(binding)
            binding.synchronize_outputs()
            return list(binding.get_outputs())

        return on_gpu

    return {"plain": run(case.plain), "fused": run(case.fused)}


def _apart(run: dict[str, Callable[[], list[Any]]]) -> float:
    """The greatest difference of their answers."""
    answers = [
        [value if isinstance(value, np.ndarray) else value.numpy() for value in each()]
        for each in run.values()
    ]
    pairs = zip(*answers, strict=True)
    return max(float(np.abs(a.astype(np.float32) - b).max(initial=0)) for a, b in pairs)


def measure(case: Case, provider: str) -> tuple[float, float, float, float]:
    """Milliseconds without and with, the median of their ratios, the greatest difference."""
    run = _runs(case, provider)
    apart = _apart(run)
    times = _turns(run)
    ratio = statistics.median(b / a for a, b in zip(times["plain"], times["fused"], strict=True))
    return (
        1e3 * statistics.median(times["plain"]),
        1e3 * statistics.median(times["fused"]),
        ratio,
        apart,
    )


def _recorded(provider: str) -> set[str]:
    """Contrib operators of a provider, in every release that was recorded."""
    releases = [
        {row[0] for row in json.loads(path.read_text(encoding="utf-8"))["contrib"]}
        for path in (_RECORDS / provider).glob("*.json")
    ]
    return set.intersection(*releases)


def check(wanted: list[str], provider: str) -> int:
    """Without the provider: whether it has the operators, and both forms are the same."""
    known, wrong = _recorded(provider), 0
    print("| fusion | sizes | operators | apart, on the CPU |\n|---|---|---|---|")
    for case in cases():
        operators = set(re.findall(r"msft\.(\w+)", case.fused))
        if (wanted and case.fusion not in wanted) or not operators & known:
            continue
        apart = _apart(_runs(case, "CPUExecutionProvider"))
        wrong += apart > _MOST or not operators <= known
        print(
            f"| {case.fusion} | {case.sizes} | {', '.join(operators)} | {apart:.1e} |", flush=True
        )
    return 1 if wrong else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.kernels")
    parser.add_argument("fusions", nargs="*", help="default: all")
    parser.add_argument("--provider", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args(arguments)
    provider = _CUDA if options.provider == "cuda" else "CPUExecutionProvider"
    if provider not in onnxruntime.get_available_providers():
        print(f"Nothing is timed: the installed ONNX Runtime has no {provider}.\n")
        return check(options.fusions, options.provider)
    print("| fusion | sizes | without | with | ratio | apart |\n|---|---|---|---|---|---|")
    for case in cases():
        if options.fusions and case.fusion not in options.fusions:
            continue
        plain, fused, ratio, apart = measure(case, provider)
        print(
            f"| {case.fusion} | {case.sizes} | {plain:.3f} ms | {fused:.3f} ms "
            f"| {ratio:.2f} | {apart:.1e} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Mixtures of experts in ONNX Runtime: grouped MatMuls, a loop over the experts, contrib operators.

The contrib operators are com.microsoft.MoE and, for block-wise quantized weights of 4 bits, QMoE.

`python -m bench.experts` exports both forms of one layer and builds the operator with the same
weights. It takes interleaved runs on the same inputs and prints medians of CPU time. The grouped
form should be at least as fast as the loop; the times of the operators are in docs/targets.md.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import onnx
import torch
import transformers.integrations.moe  # noqa: F401  (registers its operators)
from tests.harness import Session
from tests.models.experts import GroupedExperts, LoopOverExperts
from torch.export import Dim

# Experts, width, inner width, experts a token.
LAYERS = ((8, 256, 512, 2), (32, 256, 256, 4), (64, 128, 128, 8))
TOKENS = (1, 16, 128)
ROUNDS = 15


Layer = tuple[int, int, int, int]


def session(form: type[LoopOverExperts], layer: Layer) -> Session:
    import sardonyx

    torch.manual_seed(0)
    model = form(*layer).eval()
    program = sardonyx.export(
        model,
        (torch.randn(5, layer[1]),),
        dynamic_shapes=({0: Dim("tokens", min=1, max=4096)},),
    )
    return Session(program.model_proto.SerializeToString())


def operator(layer: Layer) -> Session:
    """The layer by com.microsoft.MoE, which takes the softmax of the scores itself."""
    torch.manual_seed(0)
    model = LoopOverExperts(*layer).eval()
    weights = {"router": model.router.weight.t(), "up": model.up, "down": model.down}
    graph = onnx.parser.parse_graph(
        f"g (float[n, {layer[1]}] x) => (float[n, {layer[1]}] y) {{ s = MatMul(x, router) "
        f'y = com.microsoft.MoE<k={layer[3]}, activation_type="silu", '
        "normalize_routing_weights=1>(x, s, up, , down) }"
    )
    for name, weight in weights.items():
        array = weight.detach().contiguous().numpy()
        graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("com.microsoft", 1)]
    made = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return Session(made.SerializeToString())


BLOCK = 32


def in_blocks(layer: Layer) -> Session:
    """The grouped form with `precision="int4"`."""
    import sardonyx

    torch.manual_seed(0)
    program = sardonyx.export(
        GroupedExperts(*layer).eval(),
        (torch.randn(5, layer[1]),),
        dynamic_shapes=({0: Dim("tokens", min=1, max=4096)},),
        target_runtime="onnxruntime-cpu",
    )
    coded, _ = sardonyx.optimize(program, precision="int4", runtime="onnxruntime-cpu")
    return Session(coded.model_proto.SerializeToString())


def codes(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Four bits of [experts, rows, columns], two to a byte, and a scale for each block."""
    blocks = weight.reshape(*weight.shape[:2], -1, BLOCK)
    scales = np.abs(blocks).max(-1) / 7
    four = np.clip(np.round(blocks / scales[..., None]) + 8, 0, 15).astype(np.uint8)
    four = four.reshape(weight.shape)
    return four[..., 0::2] | (four[..., 1::2] << 4), scales.astype(np.float32)


def operator_in_blocks(layer: Layer) -> Session:
    """The layer by com.microsoft.QMoE."""
    torch.manual_seed(0)
    model = LoopOverExperts(*layer).eval()
    up, up_scales = codes(model.up.detach().numpy())
    down, down_scales = codes(model.down.detach().numpy())
    router = np.ascontiguousarray(model.router.weight.t().detach().numpy())
    graph = onnx.parser.parse_graph(
        f"g (float[n, {layer[1]}] x) => (float[n, {layer[1]}] y) {{ s = MatMul(x, router) "
        f'y = com.microsoft.QMoE<k={layer[3]}, activation_type="silu", expert_weight_bits=4, '
        f"normalize_routing_weights=1, block_size={BLOCK}>"
        "(x, s, up, ups, , down, downs) }"
    )
    arrays = {"router": router, "up": up, "ups": up_scales, "down": down, "downs": down_scales}
    for name, array in arrays.items():
        graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("com.microsoft", 1)]
    made = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return Session(made.SerializeToString())


def seconds(run: Session, given: list[torch.Tensor]) -> float:
    """Of the processor, for one run."""
    began = time.process_time()
    run.run(given)
    return time.process_time() - began


def main() -> int:
    slower = 0
    for layer in LAYERS:
        forms = (session(LoopOverExperts, layer), session(GroupedExperts, layer), operator(layer))
        coded = (in_blocks(layer), operator_in_blocks(layer))
        for tokens in TOKENS:
            x = torch.randn(tokens, layer[1])
            first, *others = (form.run([x])[0] for form in forms)
            apart = max((first - other).abs().max().item() for other in others)
            rounds = [[seconds(form, [x]) for form in forms] for _ in range(ROUNDS)]
            loop, group, own = (statistics.median(each) for each in zip(*rounds, strict=True))
            slower += group > loop
            rounds = [[seconds(form, [x]) for form in coded] for _ in range(ROUNDS)]
            four, own_four = (statistics.median(each) for each in zip(*rounds, strict=True))
            print(
                f"{layer[0]:3} experts, {tokens:3} tokens: loop {loop * 1e6:7.0f} us, "
                f"grouped {group * 1e6:7.0f} us, {group / loop:.2f}; MoE {own * 1e6:7.0f} us, "
                f"{own / group:.2f} of grouped (apart by {apart:.1e}); in four bits grouped "
                f"{four * 1e6:7.0f} us, {four / group:.2f}; QMoE {own_four / four:.2f} of that"
            )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

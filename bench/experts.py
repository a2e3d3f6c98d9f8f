"""Mixtures of experts in ONNX Runtime: grouped products beside a loop over the experts, and beside
ONNX Runtime's own operator, com.microsoft.MoE.

`python -m bench.experts` exports both forms of one layer, puts the operator together with the same
weights, runs them in turns on the same inputs and prints medians of processor time. The grouped
form is to be at least as fast as the loop; what the operator takes stands in docs/targets.md.
"""

from __future__ import annotations

import statistics
import sys
import time

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


def seconds(run: Session, x: torch.Tensor) -> float:
    began = time.process_time()
    run.run([x])
    return time.process_time() - began


def main() -> int:
    slower = 0
    for layer in LAYERS:
        forms = (session(LoopOverExperts, layer), session(GroupedExperts, layer), operator(layer))
        for tokens in TOKENS:
            x = torch.randn(tokens, layer[1])
            first, *others = (form.run([x])[0] for form in forms)
            apart = max((first - other).abs().max().item() for other in others)
            rounds = [[seconds(form, x) for form in forms] for _ in range(ROUNDS)]
            loop, group, own = (statistics.median(each) for each in zip(*rounds, strict=True))
            slower += group > loop
            print(
                f"{layer[0]:3} experts, {tokens:3} tokens: loop {loop * 1e6:7.0f} us, "
                f"grouped {group * 1e6:7.0f} us, {group / loop:.2f}; MoE {own * 1e6:7.0f} us, "
                f"{own / group:.2f} of grouped (apart by {apart:.1e})"
            )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

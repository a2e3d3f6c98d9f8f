"""Mixtures of experts in ONNX Runtime: grouped products beside a loop over the experts.

`python -m bench.experts` exports both forms of one layer, runs them in turns on the same inputs and
prints the medians. The grouped form is to be at least as fast.
"""

from __future__ import annotations

import statistics
import sys
import time

import torch
import transformers.integrations.moe  # noqa: F401  (registers its operators)
from tests.harness import Session
from tests.models.experts import GroupedExperts, LoopOverExperts
from torch.export import Dim

# Experts, width, inner width, experts a token.
LAYERS = ((8, 256, 512, 2), (32, 256, 256, 4), (64, 128, 128, 8))
TOKENS = (1, 16, 128)
ROUNDS = 15


def session(form: type[LoopOverExperts], layer: tuple[int, int, int, int]) -> Session:
    import sardonyx

    torch.manual_seed(0)
    model = form(*layer).eval()
    program = sardonyx.export(
        model,
        (torch.randn(5, layer[1]),),
        dynamic_shapes=({0: Dim("tokens", min=1, max=4096)},),
    )
    return Session(program.model_proto.SerializeToString())


def seconds(run: Session, x: torch.Tensor) -> float:
    began = time.perf_counter()
    run.run([x])
    return time.perf_counter() - began


def main() -> int:
    slower = 0
    for layer in LAYERS:
        looped, grouped = session(LoopOverExperts, layer), session(GroupedExperts, layer)
        for tokens in TOKENS:
            x = torch.randn(tokens, layer[1])
            difference = (looped.run([x])[0] - grouped.run([x])[0]).abs().max().item()
            pairs = [(seconds(looped, x), seconds(grouped, x)) for _ in range(ROUNDS)]
            loop, group = (statistics.median(each) for each in zip(*pairs, strict=True))
            slower += group > loop
            print(
                f"{layer[0]:3} experts, {tokens:3} tokens: loop {loop * 1e6:7.0f} us, "
                f"grouped {group * 1e6:7.0f} us, {group / loop:.2f} (apart by {difference:.1e})"
            )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

"""Recurrences over tokens in ONNX Runtime: as transformers unrolls them, as a Scan, and as the
contrib operator com.microsoft.LinearAttention.

`python -m bench.recurrences` exports one function of transformers in these three forms. It takes
interleaved runs on the same inputs and prints nodes and medians of CPU time. The unrolled form is
for the example's length alone. The Scan should be at least as fast as that form, and the operator
as the Scan. The figures are in docs/targets.md.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from tests.harness import Session
from transformers.models.mamba2 import modeling_mamba2
from transformers.models.qwen3_next import modeling_qwen3_next

from .experts import seconds

BATCH, HEADS, KEY, VALUE = 1, 8, 64, 64
TOKENS = (1, 16, 128, 512)
ROUNDS = 11


# Of its inputs below, by the module that has the function.
FUNCTIONS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "gated delta rule": (
        modeling_qwen3_next,
        lambda q, k, v, g, b, s: modeling_qwen3_next.torch_chunk_gated_delta_rule(
            q, k, v, -g.abs(), b.sigmoid(), initial_state=s, output_final_state=True,
            use_qk_l2norm_in_kernel=True,
        ),
    ),
    "mamba2": (
        modeling_mamba2,
        lambda q, k, v, g, b, s: modeling_mamba2.mamba2_chunk_scan(
            v, g, -b[0, 0].abs(), k, q, chunk_size=256, initial_states=s.transpose(2, 3),
            dt_softplus=True, return_final_states=True,
        ),
    ),
}  # fmt: skip


class Recurrence(torch.nn.Module):
    """A model that does nothing else."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The output and the state behind the last token."""
        return self.function(*inputs)


def inputs(tokens: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    heads = (BATCH, tokens, HEADS)
    sizes = (KEY, KEY, VALUE)
    parts = (torch.randn(*heads, size) for size in sizes)
    rates = (torch.randn(heads) for _ in range(2))
    return (*parts, *rates, torch.randn(BATCH, HEADS, KEY, VALUE))


def exported(name: str, tokens: int, whole: bool, runtime: Any) -> Any:
    import sardonyx
    from sardonyx._capture.patches import recurrences

    module, function = FUNCTIONS[name]
    with (
        mock.patch.dict(recurrences._KERNELS, clear=not whole),
        # Functions are looked for in the modules that the model's classes are of.
        mock.patch.object(Recurrence, "__module__", module.__name__),
    ):
        return sardonyx.export(Recurrence(function), inputs(tokens), target_runtime=runtime)


def main() -> int:
    for name in FUNCTIONS:
        for tokens in TOKENS:
            given = list(inputs(tokens))
            programs = [
                exported(name, tokens, whole, runtime)
                for whole, runtime in (
                    (False, "onnxruntime"),
                    (True, "onnxruntime"),
                    (True, "onnxruntime-cpu"),
                )
            ]
            runs = [Session(each.model_proto.SerializeToString()) for each in programs]
            answers = [run.run(given) for run in runs]
            apart = max(
                float((torch.as_tensor(a) - torch.as_tensor(b)).abs().max())
                for other in answers[1:]
                for a, b in zip(answers[0], other, strict=True)
            )
            rounds = [[seconds(run, given) for run in runs] for _ in range(ROUNDS)]
            decomposed, scan, operator = (
                1000 * statistics.median(each) for each in zip(*rounds, strict=True)
            )
            nodes = "/".join(str(each.node_count) for each in programs)
            print(
                f"{name}, {tokens} tokens: {nodes} nodes; decomposed {decomposed:.2f} ms, as a "
                f"Scan {scan:.2f}, the operator {operator:.2f}: {scan / decomposed:.2f} and "
                f"{operator / decomposed:.2f} of it; answers {apart:.1e} apart"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())

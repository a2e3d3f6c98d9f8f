"""The models of tests/models with their dynamic dimensions on WebGPU, next to eager PyTorch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from torch.export import Dim

from tests.harness.exporting import Inputs, capture, export, model_inputs, model_outputs
from tests.models.decoding import cached_decoder
from tests.models.example import BATCH, Example, tokens
from tests.models.zoo import ZOO

from .checking import Outcome, placed, run_on_webgpu
from .models import Cached
from .running import difference

CACHED = "cached-llama"  # is fed its positions
COUNTING = "counting-llama"  # counts them from the length of its cache on
NAMES = (CACHED, COUNTING, *ZOO)
# What runs on WebGPU as a whole, but for sizes.
WHOLE = frozenset(
    {
        COUNTING, "mlp", "unet", "bert", "distilbert", "roberta", "gpt2", "llama", "mistral",
        "qwen2", "qwen3", "gemma", "phi", "t5", "bart", "whisper", "clip", "vit", "swin",
        "convnext", "resnet50", "regnet", "mobilenetv2", "segformer",
    }
)  # fmt: skip


def _counting_decoder() -> Example:
    torch.manual_seed(0)

    def inputs(batch: int, past: int, sequence: int) -> Inputs:
        first, second = (
            (torch.randn(batch, 2, past, 16), torch.randn(batch, 2, past, 16)) for _ in range(2)
        )
        mask = torch.ones(batch, past + sequence, dtype=torch.int64)
        ids = tokens(batch, sequence)
        return Inputs(
            (), {"input_ids": ids, "attention_mask": mask, "first": first, "second": second}
        )

    past = {0: BATCH, 2: Dim("past", min=2, max=3000)}
    shapes = {
        "input_ids": {0: BATCH, 1: Dim("sequence", min=2, max=1000)},
        "attention_mask": {0: BATCH, 1: Dim("total", min=4, max=4000)},
        "first": (past, past),
        "second": (past, past),
    }
    model = Cached().eval()
    return Example(model, inputs(2, 5, 3), shapes, [inputs(1, 40, 7), inputs(3, 9, 1)], False)


def _example(name: str) -> Example:
    if name == COUNTING:
        return _counting_decoder()
    return cached_decoder("llama") if name == CACHED else ZOO.build(name)


def zoo_outcome(name: str, folder: Path) -> Outcome:
    """At the example's sizes and others: `difference` is from eager PyTorch. Where nodes are is
    looked at in models that are WHOLE alone. Raises AssertionError where an answer has another
    shape or type."""
    example = _example(name)
    inputs = example.inputs.copied()
    program = (
        export(
            capture(example.model, inputs.args, inputs.kwargs, example.dynamic_shapes),
            target_runtime="webgpu",
        )
        if example.capture_first
        else export(
            example.model,
            inputs.args,
            kwargs=dict(inputs.kwargs),
            dynamic_shapes=example.dynamic_shapes,
            target_runtime="webgpu",
        )
    )
    captured = program.exported_program
    names = [each.name for each in program.model_proto.graph.input]
    path = folder / f"zoo-{name}.onnx"
    program.save(path)
    feeds, expected = [], []
    for number, each in enumerate((example.inputs, *map(Inputs.of, example.others))):
        fed = model_inputs(captured, each.args, each.kwargs)
        feeds.append(folder / f"zoo-{name}-{number}.npz")
        np.savez(feeds[-1], **{n: t.numpy() for n, t in zip(names, fed, strict=True)})
        eager = each.copied()
        with torch.no_grad():
            results = example.model(*eager.args, **eager.kwargs)
        expected.append([result.numpy() for result in model_outputs(captured, results)])
    _, log = run_on_webgpu(path, *feeds)
    apart = 0.0
    for where, wanted in zip(feeds, expected, strict=True):
        with np.load(where.with_suffix(".answers.npz")) as answers:
            for answer, result in zip(answers.values(), wanted, strict=False):
                assert answer.shape == result.shape
                assert answer.dtype == result.dtype
                apart = max(apart, difference(answer, result))
    webgpu, off, strays = placed(log, onnx.load(path))
    return Outcome(apart, webgpu, off, strays if name in WHOLE else {})

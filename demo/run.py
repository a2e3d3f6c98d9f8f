"""Exports real architectures (random weights), runs them in ONNX Runtime, compares with PyTorch.

    python demo/run.py [NAME ...]

Each model is captured with its batch, and its sequence where it has one, dynamic; the answers are
compared at the sizes it was captured with and at others. Exits with 1 when one is wrong.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import onnx
import onnxruntime
import torch
import transformers
from torch.export import Dim

import sardonyx

TOLERANCE = 1e-3  # relative to the largest number of the answer; sums run in another order


@dataclass(frozen=True)
class Example:
    """A model to show, and inputs for it at a batch and a sequence length."""

    name: str
    build: Callable[[], torch.nn.Module]
    inputs: Callable[[int, int], dict[str, torch.Tensor]]
    sequence: bool = True


@dataclass
class Row:
    """A line of the table; times in milliseconds."""

    model: str
    capture: float
    convert: float
    save: float
    megabytes: float
    nodes: int
    eager: float
    runtime: float
    difference: float

    @property
    def right(self) -> bool:
        """Whether the answers are PyTorch's."""
        return self.difference < TOLERANCE


def tokens(batch: int, length: int) -> dict[str, torch.Tensor]:
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[0, length // 2 :] = 0  # one padded row
    return {"input_ids": torch.randint(0, 1000, (batch, length)), "attention_mask": mask}


def image(batch: int, _: int) -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(batch, 3, 224, 224)}


def small_llama() -> transformers.LlamaForCausalLM:
    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=2,
        use_cache=False,
    )
    return transformers.LlamaForCausalLM(config)


EXAMPLES = (
    Example("BERT-base", lambda: transformers.BertModel(transformers.BertConfig()), tokens),
    Example(
        "GPT-2",
        lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)),
        tokens,
    ),
    Example("Llama (small)", small_llama, tokens),
    Example(
        "ViT-base",
        lambda: transformers.ViTForImageClassification(transformers.ViTConfig()),
        image,
        sequence=False,
    ),
    Example(
        "ResNet-50",
        lambda: transformers.ResNetForImageClassification(transformers.ResNetConfig()),
        image,
        sequence=False,
    ),
)


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a model's answer, in order."""
    leaves, _ = torch.utils._pytree.tree_flatten(value)
    return (leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


def milliseconds(action: Callable[[], Any], repetitions: int) -> float:
    """The fastest of some repetitions, after one that warms up."""
    action()
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def difference(actual: Any, expected: torch.Tensor) -> float:
    """The largest difference, relative to the largest number expected."""
    got = torch.from_numpy(actual)
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return float("inf")
    scale = expected.abs().max().clamp(min=1e-6)
    worst = float(((got - expected).abs().max() / scale).item())
    return float("inf") if math.isnan(worst) else worst


def capture(
    model: torch.nn.Module, example: Example, inputs: dict[str, torch.Tensor]
) -> torch.export.ExportedProgram:
    batch, sequence = Dim("batch", min=1, max=64), Dim("sequence", min=2, max=512)
    dims = {0: batch, 1: sequence} if example.sequence else {0: batch}
    shapes = dict.fromkeys(inputs, dims)
    return torch.export.export(model, (), inputs, dynamic_shapes=shapes)


def show(example: Example, folder: Path) -> Row:
    """Takes one model the whole way."""
    torch.manual_seed(0)
    model = example.build().eval()
    inputs = example.inputs(2, 16)

    start = time.perf_counter()
    program = capture(model, example, inputs)
    captured = time.perf_counter()
    converted = sardonyx.export(program)
    done = time.perf_counter()
    path = folder / "model.onnx"
    converted.save(path)
    saved = time.perf_counter()

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]

    def runtime(inputs: dict[str, torch.Tensor]) -> Any:
        arrays = (tensor.numpy() for tensor in inputs.values())
        return session.run(None, dict(zip(names, arrays, strict=True)))

    worst = 0.0
    for batch, length in ((2, 16), (1, 37), (3, 5)):
        case = example.inputs(batch, length)
        pairs = zip(runtime(case), tensors_of(model(**case)), strict=True)
        worst = max(worst, *(difference(got, want) for got, want in pairs))

    return Row(
        model=example.name,
        capture=(captured - start) * 1e3,
        convert=(done - captured) * 1e3,
        save=(saved - done) * 1e3,
        megabytes=sum(file.stat().st_size for file in folder.iterdir()) / 1e6,
        nodes=len(onnx.load(path, load_external_data=False).graph.node),
        eager=milliseconds(lambda: model(**inputs), 5),
        runtime=milliseconds(lambda: runtime(inputs), 5),
        difference=worst,
    )


HEADINGS = ("model", "capture ms", "convert ms", "save ms", "MB", "nodes", "PyTorch ms",
            "ONNX Runtime ms", "difference", "")  # fmt: skip
FORMATS = ("", ",.0f", ",.1f", ",.0f", ",.0f", "d", ",.1f", ",.1f", ".1e")


def cells(row: Row) -> list[str]:
    values = (getattr(row, column.name) for column in fields(row))
    texts = [format(value, spec) for value, spec in zip(values, FORMATS, strict=True)]
    return [*texts, "ok" if row.right else "WRONG"]


def line(texts: list[str] | tuple[str, ...]) -> str:
    widths = [max(len(heading), 6) for heading in HEADINGS]
    widths[0] = max(len(example.name) for example in EXAMPLES)
    first, *others = zip(texts, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)])


def main() -> int:
    parser = argparse.ArgumentParser(description="Real models through Sardonyx.")
    parser.add_argument("names", nargs="*", help="models to show (default: all)")
    wanted = parser.parse_args().names
    examples = [example for example in EXAMPLES if not wanted or example.name in wanted]
    if not examples:
        parser.error("no such model; there are " + ", ".join(e.name for e in EXAMPLES))

    print(f"Sardonyx {sardonyx.__version__}, PyTorch {torch.__version__}, "
          f"ONNX Runtime {onnxruntime.__version__}; random weights\n")  # fmt: skip
    print(line(HEADINGS))
    rows = []
    with torch.no_grad():
        for example in examples:
            with tempfile.TemporaryDirectory(prefix="sardonyx-demo-") as folder:
                rows.append(show(example, Path(folder)))
            print(line(cells(rows[-1])), flush=True)
    print("\nThe difference is the largest one to eager PyTorch at three sizes, relative to the\n"
          "largest number of the answer. Times are for a batch of 2.")  # fmt: skip
    return 0 if all(row.right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

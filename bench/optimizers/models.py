"""The models to optimize: the zoo as exported by Sardonyx, and by torch.onnx unoptimized."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

MAKERS = ("ours", "script", "dynamo")

# The names that onnxruntime.transformers' optimizer has for them.
KINDS = {"gpt2": "gpt2", "vit": "vit", "swin": "swin", "t5": "t5", "bart": "bart", "clip": "clip"}


def make(name: str, size: str, maker: str, folder: Path) -> None:
    """Writes `<name>-<size>-<maker>.onnx`, and its inputs as `.<n>.npz` next to it."""
    import numpy as np
    import torch
    from tests.harness import capture

    from bench.subjects import subject

    it = subject(name, "full" if size == "full" else "small")
    path = folder / f"{name}-{size}-{maker}.onnx"
    example = it.example
    _as_if_trained(example.model)
    inputs = example.inputs
    if maker == "ours":
        it.ours().save(path, external_data=True)
    elif maker == "script":
        _scripted(example, path)
    else:
        program = it.program or capture(
            example.model, inputs.args, inputs.kwargs, example.dynamic_shapes
        )
        made = torch.onnx.export(program, dynamo=True, optimize=False, verbose=False)
        assert made is not None
        made.save(str(path), external_data=True)
    for number, each in enumerate([inputs, *example.others]):
        leaves = [x for x in _leaves(each) if isinstance(x, torch.Tensor)]
        np.savez(path.with_suffix(f".{number}.npz"), *[leaf.numpy() for leaf in leaves])


def _as_if_trained(model: Any) -> None:
    """Biases of zeros and scales of ones would be optimized away; trained models have others."""
    import torch

    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in [*model.parameters(), *model.buffers()]:
            if weight.is_floating_point() and weight.dim() == 1 and weight.min() == weight.max():
                noise = torch.rand(weight.shape, generator=generator)
                weight.add_(noise.to(weight.dtype) / 16)


def _scripted(example: Any, path: Path) -> None:
    import torch

    inputs = example.inputs
    names = [f"in{i}" for i, x in enumerate(_leaves(inputs)) if isinstance(x, torch.Tensor)]
    axes = dict(zip(names, _dynamic(example, len(names)), strict=False))
    keywords = list(inputs.kwargs)

    class ByPosition(torch.nn.Module):
        """That exporter gives keywords by position, past those that forward() has by default."""

        def __init__(self) -> None:
            super().__init__()
            self.model = example.model

        def forward(self, *values: Any) -> Any:
            count = len(values) - len(keywords)
            return self.model(*values[:count], **dict(zip(keywords, values[count:], strict=True)))

    with torch.no_grad():
        torch.onnx.export(
            ByPosition().eval(),
            (*inputs.args, *inputs.kwargs.values()),
            str(path),
            dynamo=False,
            do_constant_folding=False,
            input_names=names,
            dynamic_axes={name: sizes for name, sizes in axes.items() if sizes},
        )


def _leaves(inputs: Any) -> list[Any]:
    from torch.utils import _pytree as pytree

    return pytree.tree_leaves((tuple(inputs.args), dict(inputs.kwargs)))


def _dynamic(example: Any, count: int) -> list[dict[int, str]]:
    """The dynamic dims of each tensor, in order."""
    found: list[dict[int, str]] = []

    def walk(spec: Any) -> None:
        if isinstance(spec, dict) and all(isinstance(key, int) for key in spec):
            found.append({dim: str(getattr(name, "__name__", name)) for dim, name in spec.items()})
        elif isinstance(spec, dict):
            for value in spec.values():
                walk(value)
        elif isinstance(spec, (list, tuple)):
            for value in spec:
                walk(value)
        else:
            found.append({})

    walk(example.dynamic_shapes)
    return found if len(found) == count else [{}] * count


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))

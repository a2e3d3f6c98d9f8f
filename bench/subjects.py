"""What is measured: whole models, captured, and what torch.onnx makes of them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import torch
from tests.harness import Inputs
from tests.models.zoo import ZOO, Example, Size
from torch.export import ExportedProgram

HEADLINE = ("resnet50", "bert", "gpt2", "llama")


@dataclass
class Subject:
    """A model of the zoo at a size; `program` is None where the exporter has to capture."""

    name: str
    example: Example
    program: ExportedProgram | None
    capture_seconds: float

    def ours(self) -> Any:
        """Sardonyx's model."""
        import sardonyx

        if self.program is not None:
            return sardonyx.export(self.program)
        inputs = self.example.inputs
        return sardonyx.export(
            self.example.model,
            inputs.args,
            kwargs=dict(inputs.kwargs),
            dynamic_shapes=self.example.dynamic_shapes,
        )

    def torchs(self, *, fixed_sizes: bool = False) -> Any:
        """torch.onnx's, which wants the sizes of recurrent nets fixed."""
        if self.program is not None:
            return torch.onnx.export(self.program, dynamo=True, verbose=False)
        inputs = self.example.inputs
        shapes = None if fixed_sizes else self.example.dynamic_shapes
        return torch.onnx.export(
            self.example.model,
            inputs.args,
            kwargs=dict(inputs.kwargs),
            dynamic_shapes=shapes,
            dynamo=True,
            verbose=False,
        )

    @property
    def inputs(self) -> Inputs:
        """Those that it was captured on."""
        return self.example.inputs


def subject(name: str, size: Size) -> Subject:
    torch.set_num_threads(1)
    example = ZOO.build(name, size)
    began = time.perf_counter()
    program = example.captured() if example.capture_first else None
    return Subject(name, example, program, time.perf_counter() - began)


def node_counts(model: onnx.ModelProto) -> dict[str, int]:
    """Nodes of the graph and of the bodies in it; constants in the form of nodes count too."""
    counts: dict[str, int] = {}

    def walk(graph: onnx.GraphProto) -> None:
        for node in graph.node:
            counts[node.op_type] = counts.get(node.op_type, 0) + 1
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    walk(attribute.g)

    walk(model.graph)
    return counts


def load_graph(path: Path) -> onnx.ModelProto:
    return onnx.load(str(path), load_external_data=False)


def save_torchs(subject: Subject, path: Path) -> float:
    """Seconds that conversion took; afterwards the model is at `path`."""
    began = time.perf_counter()
    program = subject.torchs()
    seconds = time.perf_counter() - began
    program.save(str(path), external_data=True)
    return seconds


def default_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "sardonyx" / "bench"

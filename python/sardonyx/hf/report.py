"""What an export of a checkpoint tells of itself."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ExportedPart:
    """One ONNX file.

    Attributes:
        file: its name in the folder.
        inputs, outputs: names with their sizes, by name where they vary.
        nodes: how many there are.
        bytes: of the file and its data.
        bytes_in_place: of weights that it refers to in the files of the checkpoint.
    """

    file: str
    inputs: dict[str, list[int | str | None]]
    outputs: dict[str, list[int | str | None]]
    nodes: int
    bytes: int
    bytes_in_place: int = 0


@dataclass
class Report:
    """What was exported.

    Attributes:
        model_class, model_type: of transformers.
        task: optimum's name.
        precision, runtime, opset: what it was made for.
        parts: its ONNX files.
        notes: what is worth knowing: dims that the model makes constant, weights that were
            computed or not used.
        verified: greedy tokens or outputs that were compared with PyTorch's, and how; empty
            where that was not asked for.
        seconds: what each step took.
    """

    model_class: str
    model_type: str
    task: str
    precision: str
    runtime: str
    opset: int = 0
    parts: list[ExportedPart] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verified: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.model_class} for {self.task}, {self.precision}, for {self.runtime}"]
        for part in self.parts:
            there = part.bytes_in_place
            where = f", {there / 1e6:.1f} MB in the checkpoint's files" if there else ""
            lines.append(f"  {part.file}: {part.nodes} nodes, {part.bytes / 1e6:.1f} MB{where}")
            for kind, values in (("in", part.inputs), ("out", part.outputs)):
                lines += [f"    {kind:4}{name} {_shape(dims)}" for name, dims in values.items()]
        lines += [f"  note: {note}" for note in self.notes]
        if self.verified:
            lines.append("  verified: " + ", ".join(f"{k} {v}" for k, v in self.verified.items()))
        return "\n".join(lines)


def _shape(dims: list[int | str | None]) -> str:
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in dims) + "]"

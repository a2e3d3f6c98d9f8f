"""What an export of a checkpoint tells of itself."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from sardonyx._report.module_sizes import ModuleSize


@dataclass(frozen=True)
class ExportedPart:
    """One ONNX file.

    Attributes:
        file: its name in the folder.
        inputs, outputs: names with their sizes, by name where they vary.
        nodes: how many there are.
        bytes: of the file and its data.
        bytes_in_place: of weights that it refers to in the files of the checkpoint.
        modules: the bytes of weights by module, for the page; not in the JSON.
        graph: a page that shows it, for the same.
    """

    file: str
    inputs: dict[str, list[int | str | None]]
    outputs: dict[str, list[int | str | None]]
    nodes: int
    bytes: int
    bytes_in_place: int = 0
    modules: ModuleSize | None = None
    graph: str = ""


@dataclass
class Report:
    """What was exported.

    Attributes:
        model_class, model_type: of transformers.
        task: optimum's name.
        precision, runtime, opset: what it was made for.
        parts: its ONNX files.
        adapters: the files of its LoRA adapters.
        static_cache: the tokens that the cache has places for; 0 for a cache that grows.
        cache_type: the type of keys and values where they are quantized; empty otherwise.
        draft: the file of the model that proposes tokens; empty where there is none.
        mtp: the file of the head that predicts further tokens; empty where there is none.
        pipeline: the files that are run one after another, each with what those before it made,
            where the model is split; empty otherwise.
        notes: what is worth knowing: dims that the model makes constant, weights that were
            computed or not used.
        verified: greedy tokens or outputs that were compared with PyTorch's, and how; empty
            where that was not asked for.
        speed: what was timed then, and the seconds that PyTorch and ONNX Runtime take for it.
        seconds: what each step took.
    """

    model_class: str
    model_type: str
    task: str
    precision: str
    runtime: str
    opset: int = 0
    parts: list[ExportedPart] = field(default_factory=list)
    adapters: list[str] = field(default_factory=list)
    static_cache: int = 0
    cache_type: str = ""
    draft: str = ""
    mtp: str = ""
    pipeline: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verified: dict[str, Any] = field(default_factory=dict)
    speed: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        values = dataclasses.asdict(self)
        for part in values["parts"]:
            del part["modules"], part["graph"]
        return values

    def __str__(self) -> str:
        lines = [f"{self.model_class} for {self.task}, {self.precision}, for {self.runtime}"]
        for part in self.parts:
            there = part.bytes_in_place
            where = f", {there / 1e6:.1f} MB in the checkpoint's files" if there else ""
            lines.append(f"  {part.file}: {part.nodes} nodes, {part.bytes / 1e6:.1f} MB{where}")
            for kind, values in (("in", part.inputs), ("out", part.outputs)):
                lines += [f"    {kind:4}{name} {_shape(dims)}" for name, dims in values.items()]
        lines += [f"  {name}: a LoRA adapter" for name in self.adapters]
        if self.draft:
            lines.append(f"  {self.draft}: a model that proposes tokens")
        if self.mtp:
            lines.append(f"  {self.mtp}: a head that predicts further tokens")
        lines += [f"  note: {note}" for note in self.notes]
        if self.verified:
            lines.append("  verified: " + ", ".join(f"{k} {v}" for k, v in self.verified.items()))
        if self.speed:
            own, other = self.speed["onnxruntime"] * 1e3, self.speed["pytorch"] * 1e3
            lines.append(
                f"  {self.speed['of']}: {own:.1f} ms in ONNX Runtime, {other:.1f} in PyTorch"
            )
        return "\n".join(lines)


def _shape(dims: list[int | str | None]) -> str:
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in dims) + "]"

"""Saved programs, in the layouts of several PyTorch releases."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram


class Tied(nn.Module):
    """Weights of every kind: tied, transposed, sliced, empty, a buffer of each sort, a constant."""

    slice: Tensor
    scratch: Tensor
    narrow: Tensor
    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.embed.weight
        self.turned = nn.Parameter(torch.randn(6, 4).t())
        self.empty = nn.Parameter(torch.zeros(0, 6))
        self.whole = nn.Parameter(torch.randn(10, 4))
        self.register_buffer("slice", self.whole.data[2:5])
        self.register_buffer("scratch", torch.ones(3), persistent=False)
        self.register_buffer("narrow", torch.ones(2, dtype=torch.bfloat16))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, ids: Tensor, x: Tensor) -> dict[str, Tensor]:
        logits = self.head(self.embed(ids))
        rows = torch.cat([self.empty, x @ self.turned])
        total = self.slice.sum() + self.scratch.sum() + self.narrow.float().sum() + self.count
        return {
            "logits": logits,
            "rows": rows + torch.tensor(2.5),
            "total": total * self.whole.sum(),
        }


def tied_program() -> ExportedProgram:
    torch.manual_seed(0)
    batch = torch.export.Dim("batch", max=64)
    inputs = (torch.tensor([[1, 2, 3]]).repeat(2, 1), torch.randn(2, 4))
    return torch.export.export(
        Tied(), inputs, dynamic_shapes={"ids": {0: batch}, "x": {0: batch}}, strict=False
    )


def saved_state(values: dict[str, Any], protocol: int = 2) -> bytes:
    buffer = io.BytesIO()
    torch.save(values, buffer, pickle_protocol=protocol)
    return buffer.getvalue()


def rewritten(source: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    """Copies an archive entry by entry; an entry that `change` makes None is left out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)


def save_as_2_13(program: ExportedProgram, path: Path) -> None:
    """Raw payloads, one for each storage: what this PyTorch writes."""
    torch.export.save(program, path)


def save_as_2_8(program: ExportedProgram, path: Path, protocol: int = 2) -> None:
    """The same archive, but weights and constants as one torch.save() file each."""
    newest = path.with_suffix(".newest.pt2")
    torch.export.save(program, newest)

    def without_payloads(name: str, content: bytes) -> bytes | None:
        return None if "/data/" in name else content

    rewritten(newest, path, without_payloads)
    with zipfile.ZipFile(path, "a") as archive:
        root = next(name for name in archive.namelist() if "/models/" in name).split("/")[0]
        state = saved_state(dict(program.state_dict), protocol)
        archive.writestr(f"{root}/data/weights/model.pt", state)
        archive.writestr(f"{root}/data/constants/model.pt", saved_state(program.constants))


def save_as_2_6(program: ExportedProgram, path: Path) -> None:
    """A flat archive, as up to PyTorch 2.7."""
    newest = path.with_suffix(".newest.pt2")
    torch.export.save(program, newest)
    with zipfile.ZipFile(newest) as old, zipfile.ZipFile(path, "w") as new:
        model = next(name for name in old.namelist() if name.endswith("/models/model.json"))
        new.writestr("serialized_exported_program.json", old.read(model))
        new.writestr("serialized_state_dict.pt", saved_state(dict(program.state_dict)))
        new.writestr("serialized_constants.pt", saved_state(program.constants))
        new.writestr("serialized_example_inputs.pt", b"")
        new.writestr("version", "8.4")

"""Throws damaged checkpoints at what reads their weights, for some minutes:
python -m tests.fuzz.checkpoints safetensors 10 (or index, gguf, distributed).

Each is read, placed in a small module, and the model is written with it. A diagnostic is an answer;
any other error, the end of the process, and 20 seconds without an answer are findings, whose
folders stay in build-fuzz/findings.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

import sardonyx
from sardonyx.hf.checkpoints import gguf
from sardonyx.hf.checkpoints.checkpoint import weights_in_folder
from sardonyx.hf.checkpoints.distributed import DistributedCheckpoint
from sardonyx.hf.checkpoints.weights import mapped, place_weights
from tests.hf.gguf_files import F32, Q4_0, write_gguf

from .damage import damaged, damaged_json, text_of

FINDINGS = Path("build-fuzz/findings")
_LONGEST = 20  # seconds


class Small(torch.nn.Module):
    """What the checkpoints are of."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(32, 2)
        self.register_buffer("scale", torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.fc(x) * self.scale
        return result


def _safetensors(folder: Path) -> None:
    safetensors.torch.save_file(Small().state_dict(), folder / "model.safetensors")


def _index(folder: Path) -> None:
    held = Small().state_dict()
    shards = {name: f"model-0000{i}-of-00003.safetensors" for i, name in enumerate(held, 1)}
    for name, shard in shards.items():
        safetensors.torch.save_file({name: held[name]}, folder / shard)
    index = {"metadata": {"total_size": 272}, "weight_map": shards}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _gguf(folder: Path) -> None:
    held = Small().state_dict()
    kinds = {"fc.weight": Q4_0, "fc.bias": F32, "scale": F32}
    metadata = {"general.architecture": "llama", "general.alignment": 32, "tokens": ["a", "b"]}
    write_gguf(folder / "model.gguf", metadata, {n: (held[n], kinds[n]) for n in held})


def _distributed(folder: Path) -> None:
    from torch.distributed import checkpoint

    checkpoint.save(Small().state_dict(), checkpoint_id=folder)


def _damage_safetensors(content: bytes, rng: random.Random) -> bytes:
    length = int.from_bytes(content[:8], "little")
    header = damaged_json(json.loads(content[8 : 8 + length]), rng)
    text = text_of(header, rng)
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def _damage_index(content: bytes, rng: random.Random) -> bytes:
    return text_of(damaged_json(json.loads(content), rng), rng)


_FORMATS: dict[str, tuple[Callable[[Path], None], str, Any]] = {
    "safetensors": (_safetensors, "*.safetensors", _damage_safetensors),
    "index": (_index, "*.index.json", _damage_index),
    "gguf": (_gguf, "*.gguf", None),
    "distributed": (_distributed, "*", None),
}


def throw(kind: str, folder: Path, scratch: Path) -> None:
    """Reads what is in the folder, and writes the model with it."""
    model = Small()
    if kind == "gguf":
        found = gguf.unpacked(gguf.files_of(folder / "model.gguf"), model, scratch, False).weights
    elif kind == "distributed":
        found = DistributedCheckpoint(folder).weights(model.state_dict(), scratch)
    else:
        found = weights_in_folder(folder)
    placed = place_weights(model, found, scratch)
    for place in placed.places.values():
        mapped(place).sum()
    if kind in ("safetensors", "index"):
        _program().apply_weights(folder)
        _program().save(scratch / "model.onnx")


_PROGRAMS: list[sardonyx.ONNXProgram] = []


def _program() -> sardonyx.ONNXProgram:
    if not _PROGRAMS:
        _PROGRAMS.append(sardonyx.export(Small(), (torch.ones(3, 32),), do_constant_folding=False))
    return _PROGRAMS[0]


def _throw_many(kind: str, seeds: Any, folder: Path, scratch: Path, end: float) -> None:
    """Counts what it throws in `seeds`; leaves with 3 at a finding, which stays in the folder."""
    make, pattern, damage = _FORMATS[kind]
    make(folder)
    files = sorted(path for path in folder.glob(pattern) if path.is_file())
    whole = {path: path.read_bytes() for path in files}
    throw(kind, folder, scratch)
    while time.monotonic() < end:
        seeds.value += 1
        rng = random.Random(seeds.value)
        path = rng.choice(files)
        as_a_whole = damage and rng.random() < 0.7
        content = damage(whole[path], rng) if as_a_whole else damaged(whole[path], rng)
        path.write_bytes(content)
        signal.alarm(_LONGEST)
        try:
            throw(kind, folder, scratch)
        except sardonyx.OnnxExporterError:
            pass
        except Exception:
            traceback.print_exc()
            os._exit(3)
        signal.alarm(0)
        path.write_bytes(whole[path])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=list(_FORMATS))
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()) << 20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    seeds = multiprocessing.Value("q", options.seed)
    with tempfile.TemporaryDirectory() as made:
        folder, scratch = Path(made) / "checkpoint", Path(made) / "scratch"
        folder.mkdir()
        scratch.mkdir()
        end = time.monotonic() + options.minutes * 60
        words = (options.format, seeds, folder, scratch, end)
        work = multiprocessing.get_context("fork").Process(target=_throw_many, args=words)
        work.start()
        work.join()
        thrown = seeds.value - options.seed
        if work.exitcode:
            kept = FINDINGS / f"{options.format}-{seeds.value}"
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            told = f"a finding after {thrown} files, exit {work.exitcode}: {kept}"
            print(f"fuzz: {options.format}: {told}")
            return 1
    print(f"{options.format}: {thrown} files in {options.minutes:g} minutes, no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Saving beside a plain write of as many bytes, and the memory that conversion and saving take."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import torch
from tests.models.zoo import Size

from .memory import Watch
from .subjects import Subject, subject

_CHUNK = 8 << 20
_ROUNDS = 3


def measure(name: str, size: Size, folder: Path) -> dict[str, Any]:
    it = subject(name, size)
    model = folder / f"{name}-{size}-saved.onnx"
    data = model.with_name(model.name + ".data")
    plain = folder / f"{name}-{size}-plain.bin"
    with Watch() as watch:
        it.ours().save(str(model))
    saves, writes, bytes_written = [], [], 0
    for _ in range(_ROUNDS):
        program = it.ours()
        _settle(model, data)
        began = time.perf_counter()
        program.save(str(model))
        returned = time.perf_counter() - began
        _flush(model, data)
        saves.append((returned, time.perf_counter() - began))
        bytes_written = sum(p.stat().st_size for p in (model, data) if p.exists())
        _settle(model, data)
        writes.append(_plain_write(it, plain, bytes_written))
        _settle(plain)
    save, write = (tuple(map(statistics.median, zip(*t, strict=True))) for t in (saves, writes))
    return {
        "bytes": bytes_written,
        "growth_megabytes": watch.growth / 1024,
        "save_seconds": save[0],
        "write_seconds": write[0],
        "share_of_write_speed": write[0] / save[0],
        "save_seconds_to_disk": save[1],
        "write_seconds_to_disk": write[1],
        "share_of_write_speed_to_disk": write[1] / save[1],
    }


def measure_command(name: str, size: Size, folder: Path, command: Path) -> dict[str, Any]:
    it = subject(name, size)
    assert it.program is not None
    archive = folder / f"{name}-{size}.pt2"
    model = folder / f"{name}-{size}-command.onnx"
    data = model.with_name(model.name + ".data")
    torch.export.save(it.program, archive)
    del it
    os.sync()
    began = time.perf_counter()
    process = subprocess.Popen([str(command), "convert", str(archive), "-o", str(model)])
    with Watch(process.pid) as watch:
        code = process.wait()
    seconds = time.perf_counter() - began
    bytes_read = archive.stat().st_size
    _settle(archive, model, data)
    return {
        "archive_bytes": bytes_read,
        "command_seconds": seconds,
        "command_exit_code": code,
        "command_megabytes": watch.most / 1024,
    }


def _plain_write(it: Subject, path: Path, size: int) -> tuple[float, float]:
    """The weights themselves, from memory, until `size` bytes are written."""
    arrays = [t.detach().view(torch.uint8).view(-1).numpy() for t in _weights(it)]
    views: list[memoryview] = [array.data for array in arrays]
    began = time.perf_counter()
    left = size
    with path.open("wb", buffering=0) as file:
        while left > 0:
            for view in views:
                for start in range(0, len(view), _CHUNK):
                    left -= file.write(view[start : start + min(_CHUNK, left)])
                    if left <= 0:
                        break
                if left <= 0:
                    break
    written = time.perf_counter() - began
    _flush(path)
    return written, time.perf_counter() - began


def _weights(it: Subject) -> list[torch.Tensor]:
    tensors = it.example.model.state_dict().values()
    return [t.reshape(-1) for t in tensors if t.numel()]


def _flush(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _settle(*paths: Path) -> None:
    """Neither side shall wait for what the other left to be written."""
    for path in paths:
        path.unlink(missing_ok=True)
    os.sync()

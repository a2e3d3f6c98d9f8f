"""A model for WebGPU, and what became of it there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import sardonyx

from .models import MODELS

# The folder of the package onnxruntime-webgpu, `pip install --no-deps --target`.
PACKAGE = os.environ.get("SARDONYX_WEBGPU", "")
# Chromium's software Vulkan.
CHROMIUM = Path("/usr/lib/chromium")
ICD = "vk_swiftshader_icd.json"
MOST = 1e-4


@dataclass
class Outcome:
    difference: float
    webgpu: int  # nodes
    off: dict[str, int]  # operators on the CPU, and copies

    @property
    def copies(self) -> int:
        return sum(count for name, count in self.off.items() if name.startswith("Memcpy"))


def missing() -> str:
    """Why nothing can be run here; empty where it can."""
    if not PACKAGE:
        return "SARDONYX_WEBGPU names no folder of the package onnxruntime-webgpu"
    if "VK_ICD_FILENAMES" not in os.environ and not (CHROMIUM / ICD).is_file():
        return "there is no Vulkan: neither VK_ICD_FILENAMES nor Chromium's SwiftShader"
    return ""


def environment() -> dict[str, str]:
    return {
        "VK_ICD_FILENAMES": str(CHROMIUM / ICD),
        "LD_LIBRARY_PATH": str(CHROMIUM),
        **os.environ,
        "PYTHONPATH": PACKAGE,
    }


def outcome(name: str, folder: Path, runtime: str = "webgpu") -> Outcome:
    """Of one model, in a process of its own."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    program = sardonyx.export(model.eval(), (), kwargs=inputs, target_runtime=runtime)
    path, feeds = folder / f"{name}.onnx", folder / f"{name}.npz"
    program.save(path)
    leaves = torch.utils._pytree.tree_leaves(list(inputs.values()))
    names = [each.name for each in program.model_proto.graph.input]
    np.savez(feeds, **{name: leaf.numpy() for name, leaf in zip(names, leaves, strict=True)})
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("running.py")), str(path), str(feeds)],
        env=environment(), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if run.returncode:
        raise RuntimeError(run.stderr[-500:] or f"exit code {run.returncode}")
    return Outcome(**json.loads(run.stdout.splitlines()[-1]))

"""A model for WebGPU, and what became of it there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

import sardonyx

from .models import MODELS

# The folder of the package onnxruntime-webgpu, `pip install --no-deps --target`.
PACKAGE = os.environ.get("SARDONYX_WEBGPU", "")
# Chromium's software Vulkan.
CHROMIUM = Path("/usr/lib/chromium")
ICD = "vk_swiftshader_icd.json"
PRECISIONS = ("fp32", "fp16", "int4", "fp16+int4")
# The largest difference from the CPU provider, by precision.
MOST = {"fp32": 1e-4, "fp16": 1e-2, "int4": 1e-4, "fp16+int4": 1e-2}
# What ONNX Runtime computes on the CPU of its own accord: sizes of tensors, what they make.
SIZES = frozenset(
    {"Shape", "Concat", "Gather", "Squeeze", "Unsqueeze", "Slice", "Add", "Sub", "Mul"}
)
_PLACED = re.compile(r"VerifyEachNodeIsAssignedToAnEp\]  Node\(s\) placed on \[(\w+)ExecutionProv")
_NODE = re.compile(r"VerifyEachNodeIsAssignedToAnEp\]   (\w+) \((.*)\)")
_ALL = re.compile(r"All nodes placed on \[(\w+)ExecutionProvider\]. Number of nodes: (\d+)")
_COPY = re.compile(r"Add (Memcpy\w+Host) (?:before|after) (\S+) for")


@dataclass
class Outcome:
    difference: float | None  # None: the device has no float16
    webgpu: int  # nodes
    off: dict[str, int]  # operators on the CPU, and copies
    strays: dict[str, int]  # those that are neither of sizes nor of the model's inputs and outputs

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


def placed(log: str, model: onnx.ModelProto) -> tuple[int, dict[str, int], dict[str, int]]:
    """Of ONNX Runtime's log of a session: nodes on WebGPU, what is elsewhere, and what of that
    neither computes sizes nor is of the model's inputs and outputs."""
    ends = {each.name for each in (*model.graph.input, *model.graph.output)}
    by_name = {node.name: node for node in model.graph.node}
    makers = {output: node for node in model.graph.node for output in node.output}
    webgpu, off, strays = 0, Counter[str](), Counter[str]()
    near = set(ends)  # values that the CPU makes of an input, too
    provider = ""
    for line in log.splitlines():
        if found := _ALL.search(line):
            webgpu += int(found[2]) if found[1] == "WebGpu" else 0
        elif found := _PLACED.search(line):
            provider = found[1]
        elif found := _NODE.search(line):
            if provider != "CPU":
                webgpu += 1
                continue
            off[found[1]] += 1
            node = by_name.get(found[2])
            source = makers.get(node.input[0]) if node is not None and node.input else None
            if node is not None and node.op_type == "Cast" and node.input[0] in ends:
                near.update(node.output)
            elif found[1] == "Cast" and source is not None and source.op_type in SIZES:
                pass  # of a size, for a Range
            elif found[1] not in SIZES:
                strays[found[1]] += 1
    for name, value in _COPY.findall(log):
        off[name] += 1
        strays[name] += value not in near
    return webgpu, dict(off), dict(+strays)


def run_on_webgpu(path: Path, *feeds: Path) -> tuple[float | None, str]:
    """The largest difference from the CPU provider, None without float16, and the log. Answers are
    next to the feeds."""
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("running.py")), str(path), *map(str, feeds)],
        env=environment(), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if run.returncode:
        raise RuntimeError(run.stderr[-500:] or f"exit code {run.returncode}")
    return json.loads(run.stdout.splitlines()[-1])["difference"], run.stderr


def outcome(name: str, folder: Path, precision: Any = "fp32", runtime: str = "webgpu") -> Outcome:
    """Of one model, in a process of its own."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    program = sardonyx.export(model.eval(), (), kwargs=inputs, target_runtime=runtime)
    path, feeds = folder / f"{name}-{precision}.onnx", folder / f"{name}.npz"
    if precision == "fp32":
        program.save(path)
    else:
        sardonyx.optimize(program, path, runtime=runtime, precision=precision)
    leaves = torch.utils._pytree.tree_leaves(list(inputs.values()))
    names = [each.name for each in program.model_proto.graph.input]
    np.savez(feeds, **{name: leaf.numpy() for name, leaf in zip(names, leaves, strict=True)})
    apart, log = run_on_webgpu(path, feeds)
    return Outcome(apart, *placed(log, onnx.load(path)))

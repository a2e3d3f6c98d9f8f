"""Runs a model on WebGPU and on the CPU, in a process whose onnxruntime has the WebGPU provider:

    python tests/webgpu/running.py MODEL FEEDS.npz

Prints as JSON the largest difference of the two, relative to the largest number of each output, the
nodes by provider, and the operators that ran on the CPU, copies among them.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime


def session(path: str, *providers: str, profile: str = "") -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.enable_profiling = bool(profile)
    options.profile_file_prefix = profile
    names = [f"{name}ExecutionProvider" for name in (*providers, "CPU")]
    made = onnxruntime.InferenceSession(path, options, providers=names)
    if made.get_providers() != names:
        raise RuntimeError(f"only {made.get_providers()} can be used here")
    return made


def difference(a: Any, b: Any) -> float:
    if not a.size:
        return 0.0
    wanted = np.asarray(b, np.float64)
    return float(np.abs(np.asarray(a, np.float64) - wanted).max() / max(1.0, np.abs(wanted).max()))


def main(path: str, feeds_path: str) -> None:
    feeds = dict(np.load(feeds_path))
    gpu = session(path, "WebGpu", profile=f"{feeds_path}.profile")
    results = gpu.run(None, feeds)
    events = json.loads(Path(gpu.end_profiling()).read_text())
    kernels = [
        (each["args"].get("provider", ""), each["args"]["op_name"])
        for each in events
        if each.get("cat") == "Node" and each["name"].endswith("_kernel_time")
    ]
    is_off = [name.startswith("Memcpy") or provider[:3] == "CPU" for provider, name in kernels]
    wanted = session(path).run(None, feeds)
    print(
        json.dumps(
            {
                "difference": max(map(difference, results, wanted)),
                "webgpu": sum(not off for off in is_off),
                "off": Counter(name for off, (_, name) in zip(is_off, kernels, strict=True) if off),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

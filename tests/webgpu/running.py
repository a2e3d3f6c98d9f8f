"""Runs a model on WebGPU and on the CPU, in a process whose onnxruntime has the WebGPU provider:

    python tests/webgpu/running.py MODEL FEEDS.npz...

Prints as JSON the largest difference of the two, relative to the largest number of each output;
null where the device has no float16, as software Vulkans have not. What WebGPU answers to FEEDS.npz
is written to FEEDS.answers.npz. ONNX Runtime's log on stderr says where each node is, and what is
copied.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime


def session(path: str, *providers: str, severity: int = 4) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = severity
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


def main(path: str, *feeds_paths: str) -> None:
    all_feeds = [dict(np.load(each)) for each in feeds_paths]
    onnxruntime.set_default_logger_severity(0)
    try:
        gpu = session(path, "WebGpu", severity=0)
        onnxruntime.set_default_logger_severity(4)
        answers = [gpu.run(None, feeds) for feeds in all_feeds]
    except Exception as error:  # its own classes, of a private module
        if "requires f16" not in str(error):
            raise
        print(json.dumps({"difference": None}))
        return
    cpu, most = session(path), 0.0
    for where, feeds, results in zip(feeds_paths, all_feeds, answers, strict=True):
        np.savez(Path(where).with_suffix(".answers.npz"), *results)
        most = max(most, *map(difference, results, cpu.run(None, feeds)))
    print(json.dumps({"difference": most}))


if __name__ == "__main__":
    main(*sys.argv[1:])

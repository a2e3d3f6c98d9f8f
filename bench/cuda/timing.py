"""Runs on a GPU: sessions whose inputs and outputs stay there, in interleaved runs."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch

_PROVIDER = "CUDAExecutionProvider"
_TYPES = {
    "tensor(float)": (np.float32, torch.float32),
    "tensor(float16)": (np.float16, torch.float16),
    "tensor(bfloat16)": (16, torch.bfloat16),
    "tensor(int64)": (np.int64, torch.int64),
    "tensor(int32)": (np.int32, torch.int32),
    "tensor(bool)": (np.bool_, torch.bool),
}


def missing() -> str:
    """Why nothing can be measured here; empty where it can."""
    if not torch.cuda.is_available():
        return "PyTorch sees no GPU"
    if _PROVIDER not in onnxruntime.get_available_providers():
        return "the installed ONNX Runtime has no CUDA provider: install onnxruntime-gpu"
    return ""


def session(
    path: str | bytes, *, profiles: bool = False, graph: bool = False
) -> onnxruntime.InferenceSession:
    """Without TF32, which has too few digits to be compared. `graph`: as a CUDA graph."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.enable_profiling = profiles
    options.profile_file_prefix = str(Path(tempfile.mkdtemp()) / "profile")
    chosen = {"use_tf32": "0", "enable_cuda_graph": "1" if graph else "0"}
    providers = [(_PROVIDER, chosen), "CPUExecutionProvider"]
    return onnxruntime.InferenceSession(path, options, providers=providers)


def bound(
    running: onnxruntime.InferenceSession, feeds: dict[str, torch.Tensor]
) -> Callable[[], Any]:
    """A run of tensors that are copied to the device once."""
    binding, kept = running.io_binding(), []
    for each in running.get_inputs():
        number, kind = _TYPES[each.type]
        value = feeds[each.name].to(kind).contiguous().cuda()
        kept.append(value)
        binding.bind_input(each.name, "cuda", 0, number, tuple(value.shape), value.data_ptr())
    for each in running.get_outputs():
        binding.bind_output(each.name, "cuda", 0)

    def run() -> Any:
        running.run_with_iobinding(binding)
        return binding, kept

    return run


def answers(model: str | bytes, feeds: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """Of a model on the GPU, on the CPU."""
    running = session(model)
    given = {each.name: feeds[each.name].numpy() for each in running.get_inputs()}
    return [torch.from_numpy(each) for each in running.run(None, given)]


def placed(path: str, feeds: dict[str, torch.Tensor]) -> tuple[int, Counter[str]]:
    """Nodes on the GPU, and those on the CPU with copies by operator, of a run."""
    running = session(path, profiles=True)
    bound(running, feeds)()
    events = json.loads(Path(running.end_profiling()).read_text(encoding="utf-8"))
    on_gpu, left = 0, Counter[str]()
    for each in events:
        if each.get("cat") != "Node" or not each["name"].endswith("_kernel_time"):
            continue
        operator = each["args"]["op_name"]
        is_off = each["args"].get("provider", "")[:3] == "CPU" or operator.startswith("Memcpy")
        on_gpu += not is_off
        left[operator] += is_off
    return on_gpu, +left


def medians(runs: dict[str, Callable[[], Any]], rounds: int = 40) -> dict[str, float]:
    """Milliseconds of each, in interleaved runs."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 8):
        for name, run in runs.items():
            torch.cuda.synchronize()
            began = time.perf_counter()
            run()
            torch.cuda.synchronize()
            if turn >= 8:
                times[name].append(time.perf_counter() - began)
    return {name: 1e3 * statistics.median(seconds) for name, seconds in times.items()}

"""Optimized models compared with the model before: answers, and latency in interleaved runs."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from bench.subjects import load_graph, node_counts

Array = Any  # of NumPy, or a list of them

# Relative to the largest answer; other orders of summation stay far below it. In float16, answers
# may be off by a few of its steps.
_TOLERANCE = 2e-4
_STEPS = 4


def session(path: Path, *, optimize: bool) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def nodes_of(path: Path) -> int:
    """Nodes of a model and of the bodies in it."""
    counts = node_counts(load_graph(path))
    return sum(count for name, count in counts.items() if name != "Constant")


def nodes_once_loaded(path: Path) -> int:
    """Nodes that remain after ONNX Runtime has optimized a model on loading it, at its level of
    fusions. The level above is for layouts, and adds nodes."""
    with tempfile.TemporaryDirectory() as folder:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(Path(folder) / "model.onnx")
        # Weights would make the file too large.
        options.add_session_config_entry(
            "session.optimized_model_external_initializers_file_name", "model.data"
        )
        ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return nodes_of(Path(options.optimized_model_filepath))


def feeds(model: Path, loaded: ort.InferenceSession) -> list[dict[str, Array]]:
    """The inputs that were saved beside a model; those that it does not take are left out."""
    names = [each.name for each in loaded.get_inputs()]
    found = []
    for file in sorted(model.parent.glob(f"{model.stem}.*.npz")):
        arrays = list(np.load(file).values())
        if len(arrays) == len(names):
            found.append(dict(zip(names, arrays, strict=True)))
    return found


def difference(answers: list[Array], expected: list[Array]) -> str:
    """How they differ; "" where they are the same but for rounding."""
    for position, (got, want) in enumerate(zip(answers, expected, strict=True)):
        if want is None or isinstance(want, (list, dict)):
            continue
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"output {position} is {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        if want.size == 0 or np.array_equal(got, want):
            continue
        if want.dtype.kind not in "fc":
            return f"output {position} differs"
        if not np.array_equal(np.isnan(got), np.isnan(want)):
            return f"output {position} has NaN elsewhere"
        finite = np.isfinite(want)
        if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
            return f"output {position} has infinities elsewhere"
        largest = max(float(np.abs(want[finite]).max(initial=0)), 1e-6)
        off = float(np.abs(got[finite].astype("f8") - want[finite].astype("f8")).max(initial=0))
        step = float(np.finfo(want.dtype).eps) if want.dtype.kind == "f" else 0
        if off > max(_TOLERANCE, _STEPS * step) * largest:
            return f"output {position} is off by {off / largest:.1e}"
    return ""


def answers_of(
    path: Path,
    inputs: list[dict[str, Array]],
    expected: list[list[Array]],
    once_optimized: list[list[Array]] | None = None,
) -> str:
    """How a model's answers differ, with ONNX Runtime's optimizer off and on; with it on, some
    models give other answers by themselves, which are `once_optimized`."""
    for optimize in (False, True):
        answers = once_optimized if optimize and once_optimized is not None else expected
        try:
            loaded = session(path, optimize=optimize)
            for feed, wanted in zip(inputs, answers, strict=True):
                if told := difference(loaded.run(None, feed), wanted):
                    return told
        except Exception as error:
            return f"does not run: {str(error)[:120]}"
    return ""


def by_turns(paths: dict[str, Path], feed: dict[str, Array], seconds: float) -> dict[str, float]:
    """Milliseconds of the processor for each, the median; other work on the machine does not count.
    The order is drawn anew each time, and each is loaded twice, since it matters what ran before
    and where weights happen to lie."""
    drawn = random.Random(0)
    sessions = [(name, session(path, optimize=True)) for name, path in [*paths.items()] * 2]
    times: dict[str, list[float]] = {name: [] for name in paths}
    began = time.perf_counter()
    while len(next(iter(times.values()))) < 5 or time.perf_counter() - began < seconds:
        drawn.shuffle(sessions)
        for name, loaded in sessions:
            start = time.process_time()
            loaded.run(None, feed)
            times[name].append(time.process_time() - start)
    return {name: 1e3 * statistics.median(taken) for name, taken in times.items()}

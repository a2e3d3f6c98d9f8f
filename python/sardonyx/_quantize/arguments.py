"""What the commands `quantize` and `calibrate` have in common."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from sardonyx._base.errors import usage_error

from .data import RandomSamples
from .options import SCHEMES

TARGETS = ("onnxruntime-cpu", "onnxruntime-avx2", "openvino", "tensorrt", "qnn", "ryzen-ai")


def add_common(parser: argparse.ArgumentParser) -> None:
    """The options of both commands."""
    parser.add_argument("model", help="the .onnx file, in float32")
    parser.add_argument(
        "--data", metavar="DATA",
        help="samples: an .npz file, a folder of .npy or .npz files, or script.py:function",
    )  # fmt: skip
    parser.add_argument(
        "--random", type=int, metavar="N",
        help="N random samples, to try things out: accuracy means nothing then",
    )  # fmt: skip
    parser.add_argument(
        "--scheme", choices=SCHEMES, help="types of weights and activations (default: the target's)"
    )
    parser.add_argument(
        "--runtime", choices=TARGETS, default="onnxruntime-cpu",
        help="the target runtime (default: onnxruntime-cpu)",
    )  # fmt: skip
    parser.add_argument(
        "--keep", action="append", default=[], metavar="PATTERN",
        help="operator type, or regular expression of names of nodes or weights that stay in "
        "float; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--batch", type=int, default=1, metavar="N",
        help="samples of an .npz that are run at once, where the batch is dynamic (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=int, metavar="MB",
        help="megabytes that observed values may take at once: the model runs several times over "
        "the samples where all take more",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def memory_of(options: argparse.Namespace) -> int | None:
    """What --memory allows, in bytes."""
    if options.memory is None:
        return None
    if options.memory <= 0:
        raise usage_error(f"--memory is a number of megabytes above 0, not {options.memory}")
    return int(options.memory) * 1_000_000


def existing(model: str) -> str:
    """The path of the model. Raises a UsageError where there is no such file."""
    if not Path(model).is_file():
        raise usage_error(f"there is no file {model}")
    return model


def show_progress(done: int, count: int | None) -> None:
    """A line that changes, where somebody looks."""
    if sys.stderr.isatty():
        of_all = f" of {count}" if count else ""
        print(f"\rcalibrating: {done}{of_all} samples", end="", file=sys.stderr, flush=True)
        if done == count:
            print(file=sys.stderr)


def samples_of(options: argparse.Namespace) -> Any:
    """What --data or --random names; None where neither is given."""
    if options.data is not None and options.random is not None:
        raise usage_error("name samples with --data, or ask for --random")
    return options.data if options.random is None else RandomSamples(options.random)

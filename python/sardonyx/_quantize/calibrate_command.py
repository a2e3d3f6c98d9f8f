"""`sardonyx calibrate model.onnx --data samples.npz -o stats.json`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from sardonyx._base.commands import run_command
from sardonyx._base.errors import usage_error

from .arguments import add_common, existing, memory_of, samples_of, show_progress
from .calibrate import calibrate


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code: 0, 1 for a failure, 2 for wrong usage."""
    options = parser().parse_args(arguments)
    return run_command(options.json, lambda: _run(options))


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    made = argparse.ArgumentParser(
        prog="sardonyx calibrate",
        description="Run a model on samples in ONNX Runtime, and write how its values are "
        "distributed. Files of parts of the data merge into what all of it gives at once: "
        "sardonyx quantize --stats a.json b.json.",
        epilog="examples:\n"
        "  sardonyx calibrate model.onnx --data samples.npz -o stats.json\n"
        "  sardonyx calibrate model.onnx --data part-3/ -o stats-3.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(made)
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="the .json to write")
    return made


def _run(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    data = samples_of(options)
    if data is None:
        raise usage_error("name samples with --data, or ask for --random")
    statistics = calibrate(
        existing(options.model),
        data,
        scheme=options.scheme,
        runtime=options.runtime,
        keep=options.keep,
        batch=options.batch,
        memory=memory_of(options),
        progress=show_progress,
    )
    statistics.save(options.output)
    result = {"output": options.output, "samples": statistics.samples}
    return result, f"{options.output}: statistics of {statistics.samples} samples"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

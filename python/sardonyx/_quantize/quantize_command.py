"""`sardonyx quantize model.onnx --data samples.npz -o quantized.onnx`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sardonyx._base.commands import run_command
from sardonyx._base.errors import usage_error

from .arguments import add_common, existing, memory_of, samples_of, show_progress
from .options import METHODS, WEIGHT_ONLY, WHEN
from .quantize import quantize


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code: 0, 1 for a failure, 2 for wrong usage."""
    options = parser().parse_args(arguments)
    return run_command(options.json, lambda: _run(options))


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    made = argparse.ArgumentParser(
        prog="sardonyx quantize",
        description="Quantize weights and activations of a model, by what they are on samples. The "
        "model runs in ONNX Runtime meanwhile; PyTorch is not needed.",
        epilog="examples:\n"
        "  sardonyx quantize model.onnx --data samples.npz -o quantized.onnx\n"
        "  sardonyx quantize model.onnx --data samples.npz -o quantized.onnx --snr 35\n"
        "  sardonyx quantize model.onnx --stats a.json b.json -o quantized.onnx\n"
        "  sardonyx quantize model.onnx --data load.py:samples -o q.onnx --runtime qnn",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(made)
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="the .onnx to write")
    made.add_argument(
        "--stats", nargs="+", metavar="FILE",
        help="files of `sardonyx calibrate`, which are merged, instead of a calibration",
    )  # fmt: skip
    made.add_argument(
        "--method", choices=METHODS, default="mse",
        help="how ranges of activations are chosen (default: mse)",
    )  # fmt: skip
    made.add_argument(
        "--percentile", type=float, default=99.99, metavar="P",
        help="of --method percentile: the share within the range (default: 99.99)",
    )  # fmt: skip
    made.add_argument(
        "--snr", type=float, metavar="DB",
        help="the lowest signal-to-noise ratio to accept on the samples: layers with the largest "
        "errors get activations of 16 bits, where the target has them, or stay in float",
    )  # fmt: skip
    made.add_argument(
        "--mixed", action="append", default=[], metavar="PATTERN=TYPE",
        help="layers that take activations of a8 or a16, or stay in float (keep); repeatable",
    )  # fmt: skip
    made.add_argument(
        "--per-tensor", action="store_true",
        help="one scale for each weight, instead of one for each channel",
    )  # fmt: skip
    made.add_argument(
        "--no-bias-correction", action="store_true",
        help="do not correct biases for the means that rounded weights change",
    )  # fmt: skip
    made.add_argument(
        "--nearest", action="store_true",
        help="round each weight to nearest, instead of minimizing the error of layers on the "
        "samples",
    )  # fmt: skip
    made.add_argument(
        "--rounding-seconds", type=float, metavar="S",
        help="the longest time to round weights by samples; the largest weights of those that are "
        "left are rounded to nearest (default: no limit)",
    )  # fmt: skip
    made.add_argument(
        "--equalize", choices=WHEN, default="auto",
        help="cross-layer equalization, which moves scales of channels from a layer into the next: "
        "auto where the measured error is smaller, always, or never (default: auto)",
    )  # fmt: skip
    made.add_argument(
        "--smooth", choices=WHEN, default="auto",
        help="SmoothQuant, which moves scales of channels from a normalization into the weights "
        "after it (default: auto)",
    )  # fmt: skip
    made.add_argument(
        "--force", action="store_true",
        help="quantize a model again that has QuantizeLinear and DequantizeLinear already",
    )  # fmt: skip
    made.add_argument(
        "--measures", metavar="FILE",
        help="write the error of each layer, for `sardonyx inspect --html --measures FILE`",
    )  # fmt: skip
    made.add_argument(
        "--explain", action="store_true",
        help="print each layer with its error, and why others stay in float",
    )  # fmt: skip
    return made


def _run(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    data = samples_of(options)
    if data is None and options.stats is None and options.scheme != WEIGHT_ONLY:
        raise usage_error(
            "quantization needs samples or statistics", "give --data, --random or --stats"
        )
    if data is None and options.measures is not None:
        raise usage_error("errors are measured on samples", "give --data")
    if options.measures is not None and not Path(options.measures).parent.is_dir():
        raise usage_error(f"there is no folder {Path(options.measures).parent}")
    done = quantize(
        existing(options.model),
        data,
        options.output,
        stats=options.stats,
        scheme=options.scheme,
        runtime=options.runtime,
        method=options.method,
        percentile=options.percentile,
        snr=options.snr,
        keep=options.keep,
        mixed=_mixed(options.mixed),
        per_channel=not options.per_tensor,
        correct_bias=not options.no_bias_correction,
        round_adaptively=not options.nearest,
        rounding_seconds=options.rounding_seconds,
        equalize=options.equalize,
        smooth=options.smooth,
        batch=options.batch,
        memory=memory_of(options),
        force=options.force,
        explain=(options.explain or options.measures is not None) and data is not None,
        progress=show_progress,
    )
    if options.measures is not None:
        Path(options.measures).write_text(json.dumps(done.report.measures()), encoding="utf-8")
    text = done.report.explained() if options.explain else str(done.report)
    return {"output": options.output, **done.report.as_json()}, f"{options.output}: {text}"


def _mixed(words: Sequence[str]) -> dict[str, str]:
    types = {}
    for each in words:
        pattern, equals, name = each.rpartition("=")
        if not equals or not pattern:
            raise usage_error(f"--mixed is PATTERN=TYPE, not {each}")
        types[pattern] = name
    return types


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

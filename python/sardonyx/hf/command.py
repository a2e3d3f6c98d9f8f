"""`sardonyx hf`: the command line of `sardonyx.hf.export`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from sardonyx._base.errors import OnnxExporterError, UsageError, failure
from sardonyx._optimize.precision import PRECISIONS

from .tasks import TASKS, WITH_PAST

_SUCCESS, _FAILURE, _USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code: 0, 1 for a failure, 2 for wrong usage.

    An interrupt is its caller's to tell.
    """
    options = parser().parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        report = _export(options)
    except OnnxExporterError as error:
        _tell(error, options.json)
        return _USAGE if isinstance(error, UsageError) else _FAILURE
    except Exception as error:
        _tell(error, options.json)
        return _FAILURE
    if options.json:
        print(json.dumps({"ok": True, **report.as_dict()}, ensure_ascii=False))
    else:
        print(report)
    return _SUCCESS


def _export(options: argparse.Namespace) -> Any:
    _quieten()  # first: it reports packages that are not installed

    from .export import export
    from .progress import Progress, to_standard_error

    return export(
        options.folder,
        options.output,
        task=options.task,
        precision=options.precision,
        runtime=options.runtime,
        opset=options.opset,
        verify=options.verify,
        weights_in_place=options.weights_in_place,
        trust_remote_code=options.trust_remote_code,
        image_size=options.image_size,
        progress=Progress() if options.json or options.quiet else to_standard_error(),
    )


def _quieten() -> None:
    """transformers' own progress and warnings are about training and loading."""
    from .packages import transformers

    logging = transformers().utils.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _tell(error: Exception, as_json: bool) -> None:
    if as_json:
        print(json.dumps(failure(error), ensure_ascii=False))
    elif isinstance(error, OnnxExporterError) and error.diagnostics:
        print(error, file=sys.stderr)
    else:
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    names = sorted(task.name + (f"[{WITH_PAST}]" if task.generates else "") for task in TASKS)
    made = argparse.ArgumentParser(
        prog="sardonyx hf",
        description="Exports the folder of a Hugging Face checkpoint (config.json, safetensors, "
        "tokenizer) to a folder of ONNX models that run.",
        epilog="Tasks: " + ", ".join(names) + ".",
    )
    made.add_argument("folder", help="the checkpoint")
    made.add_argument("-o", "--output", metavar="OUT", help="the folder to write")
    made.add_argument("--task", help="by default that of the class the checkpoint was saved from")
    made.add_argument(
        "--precision", default="fp32", choices=("fp32", *PRECISIONS),
        help="fp32 by default; int8 and int4 hold weights in blocks, fp16+int4 is both",
    )  # fmt: skip
    made.add_argument("--runtime", default="onnxruntime", help="as of `sardonyx optimize`")
    made.add_argument("--opset", type=int, help="by default what suits the runtime")
    made.add_argument("--verify", action="store_true", help="compare with PyTorch")
    made.add_argument(
        "--weights-in-place", action="store_true",
        help="write beside the checkpoint, and refer to the weights in its files; no -o",
    )  # fmt: skip
    made.add_argument(
        "--image-size", type=int, metavar="PIXELS",
        help="a side of the images that it is captured with; by default as the configuration says",
    )  # fmt: skip
    made.add_argument("--trust-remote-code", action="store_true", help="run code in the folder")
    made.add_argument("--json", action="store_true", help="say all of it as JSON")
    made.add_argument("--quiet", action="store_true", help="no progress on standard error")
    return made

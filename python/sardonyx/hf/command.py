"""`sardonyx hf`: the command line of `sardonyx.hf.export`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sardonyx._base.commands import run_command
from sardonyx._base.errors import UsageError, refusal
from sardonyx._optimize.dims import numbers
from sardonyx._optimize.precision import PRECISIONS

from .base.tasks import TASKS, WITH_PAST


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code: 0, 1 for a failure, 2 for wrong usage.

    An interrupt is its caller's to tell.
    """
    options = parser().parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")

    def work() -> tuple[dict[str, Any], str]:
        report = _export(options)
        return report.as_dict(), str(report)

    # Whatever transformers or the model raises is the command's failure.
    return run_command(options.json, work, failures=(Exception,))


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _export(options: argparse.Namespace) -> Any:
    _quieten()  # first: it reports packages that are not installed
    from sardonyx._base.threads import set_num_threads

    from .base.progress import Progress, to_standard_error
    from .conversion.export import export

    set_num_threads(options.threads)
    return export(
        options.folder,
        options.output,
        task=options.task,
        precision=options.precision,
        runtime=options.runtime,
        provider=options.provider,
        fixed=numbers("--fixed", options.fixed),
        max_sizes=numbers("--max", options.max),
        opset=options.opset,
        verify=options.verify,
        weights_in_place=options.weights_in_place,
        trust_remote_code=options.trust_remote_code,
        image_size=options.image_size,
        adapters=options.adapter,
        merge_adapters=options.merge_adapter,
        split=options.split,
        last_logits=options.last_logits,
        hidden_states=options.hidden_states,
        draft=options.draft,
        mtp=options.mtp,
        static_cache=options.static_cache,
        cache_type=options.cache_type,
        cache_scales=options.cache_scales,
        cache_prompts=_lines(options.cache_prompts),
        progress=Progress() if options.json or options.quiet else to_standard_error(),
    )


def _lines(file: str | None) -> list[str]:
    """Those that hold something. SX1001 for a file that cannot be read."""
    if file is None:
        return []
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise refusal("SX1001", f"cannot read the prompts: {error}", "", UsageError) from error
    return [line for line in text.splitlines() if line.strip()]


def _quieten() -> None:
    """transformers' own progress and warnings are about training and loading."""
    from .base.packages import transformers

    logging = transformers().utils.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    names = sorted(task.name + (f"[{WITH_PAST}]" if task.generates else "") for task in TASKS)
    made = argparse.ArgumentParser(
        prog="sardonyx hf",
        description="Export the folder of a Hugging Face checkpoint (config.json, safetensors, "
        "tokenizer) to a folder of ONNX models.",
        epilog="Tasks: " + ", ".join(names) + ".",
    )
    made.add_argument("folder", help="the folder of the checkpoint; a hub id is not accepted")
    made.add_argument("-o", "--output", metavar="OUT", help="the folder to write")
    made.add_argument("--task", help="default: the task of the class that was saved")
    made.add_argument(
        "--precision", default="fp32", choices=("fp32", *PRECISIONS),
        help="default: fp32; int8 and int4 quantize weights block-wise",
    )  # fmt: skip
    made.add_argument(
        "--runtime", default="onnxruntime", help="target runtime, as for `sardonyx optimize`"
    )
    made.add_argument(
        "--provider", metavar="NAME",
        help="of onnxruntime and onnxruntime-genai: cpu, cuda, webgpu; of the latter: dml",
    )  # fmt: skip
    made.add_argument(
        "--fixed", action="append", default=[], metavar="NAME=N",
        help="make dynamic dimensions constant: batch=1,sequence=128; repeatable",
    )  # fmt: skip
    made.add_argument(
        "--max", action="append", default=[], metavar="NAME=N",
        help="upper bounds of dynamic dimensions; repeatable",
    )  # fmt: skip
    made.add_argument("--opset", type=int, help="default: the best one for the runtime")
    made.add_argument("--verify", action="store_true", help="compare the results with PyTorch")
    made.add_argument(
        "--weights-in-place", action="store_true",
        help="write into the checkpoint's folder and refer to its weights; no -o",
    )  # fmt: skip
    made.add_argument(
        "--image-size", type=int, metavar="PIXELS",
        help="side length of the images for the capture; default: the configuration's",
    )  # fmt: skip
    made.add_argument(
        "--adapter", action="append", default=[], metavar="FOLDER",
        help="LoRA adapter of peft that becomes inputs of the model, and FOLDER.onnx_adapter; "
        "may be repeated",
    )  # fmt: skip
    made.add_argument(
        "--merge-adapter", action="append", default=[], metavar="FOLDER",
        help="LoRA adapter of peft that is merged into the weights; may be repeated",
    )  # fmt: skip
    _add_options_of_decoders(made)
    made.add_argument(
        "--trust-remote-code", action="store_true", help="run code that the checkpoint brings"
    )
    made.add_argument(
        "--threads", type=_positive, metavar="N", default=0,
        help="threads that work on weights; default: one for each processor",
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="print the report as JSON")
    made.add_argument("--quiet", action="store_true", help="no progress on standard error")
    return made


def _add_options_of_decoders(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--split", type=_positive, metavar="N",
        help="write the layers as N files, with one for the embeddings and one for the head",
    )  # fmt: skip
    made.add_argument("--last-logits", action="store_true", help="logits of the last token alone")
    made.add_argument(
        "--hidden-states", action="store_true", help="add the last hidden states as an output"
    )
    made.add_argument(
        "--draft", metavar="FOLDER",
        help="checkpoint of a smaller model that proposes tokens; onnxruntime-genai only",
    )  # fmt: skip
    made.add_argument(
        "--mtp", action="store_true",
        help="the checkpoint's head for multi-token prediction proposes tokens; "
        "onnxruntime-genai only",
    )  # fmt: skip
    made.add_argument(
        "--static-cache", type=_positive, metavar="N",
        help="a cache of N tokens, which the model writes into; default: the cache grows",
    )  # fmt: skip
    made.add_argument(
        "--cache-type", choices=("int8", "int4"),
        help="type that keys and values are kept in; default: that of the model",
    )  # fmt: skip
    made.add_argument(
        "--cache-scales", choices=("channel", "tensor"), default="channel",
        help="scales of that type, by channel or by tensor; default: channel",
    )  # fmt: skip
    made.add_argument(
        "--cache-prompts", metavar="FILE",
        help="prompts that these scales are chosen by, one a line",
    )  # fmt: skip

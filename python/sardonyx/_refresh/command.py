"""`sardonyx refresh model.onnx CHECKPOINT`: other weights for an exported model."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sardonyx import _native
from sardonyx._base.bytes_written import bytes_written
from sardonyx._base.commands import run_command
from sardonyx._base.errors import Diagnostic, refusal, refusals, usage_error
from sardonyx._model.program_settings import differences, settings_in

from .checkpoints import is_quantized, of_transformers, read_checkpoint

# Where the model has how its weights were made; as src/refresh/record.h has it.
RECORD = "sardonyx.weights"


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code: 0, 1 for a failure, 2 for wrong usage."""
    options = parser().parse_args(arguments)

    def work() -> tuple[dict[str, Any], str]:
        result = refresh(options.model, options.checkpoint, options.output)
        return result, _text_of(result)

    return run_command(options.json, work)


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    made = argparse.ArgumentParser(
        prog="sardonyx refresh",
        description="Replace the weights of an exported model by those of another checkpoint of "
        "the same program. The model is neither captured nor converted again: what the export did "
        "to each weight (folded, transposed, cast, quantized) is recorded in the file, and is done "
        "to the new one. The result is the file that a full export would write.",
        epilog="CHECKPOINT is one of\n"
        "  a .safetensors file, an index of shards, or a folder with either\n"
        "  a state dict of torch.save: .pt, .pth, .bin, or an index of .bin shards\n"
        "  a folder of torch.distributed.checkpoint\n"
        "  a checkpoint folder of transformers, quantized or not, or a GGUF file\n"
        "Names, shapes and dtypes must be those of the program; all that differ are listed, and\n"
        "the old file stays.\n\n"
        "examples:\n"
        "  sardonyx refresh model.onnx finetuned.safetensors\n"
        "  sardonyx refresh llama-onnx/model.onnx llama-finetuned/ -o new/model.onnx\n"
        "  sardonyx refresh model.onnx epoch-3.pt --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("model", help="the .onnx file, as Sardonyx exported it")
    made.add_argument("checkpoint", metavar="CHECKPOINT", help="the file or folder of weights")
    made.add_argument(
        "-o", "--output", metavar="FILE",
        help="write to this path, and external data next to it (default: replace the model)",
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="print the result as JSON")
    return made


def refresh(
    model: str | os.PathLike[str],
    checkpoint: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Replaces the weights of a file; the old ones stay where that fails."""
    path = Path(model)
    if not path.is_file():
        raise usage_error(f"there is no file {path}")
    begin = time.perf_counter()
    record = _record(path)
    destination = Path(out) if out is not None else path
    with tempfile.TemporaryDirectory(
        prefix=".sardonyx-", dir=destination.parent, ignore_cleanup_errors=True
    ) as scratch:
        names = set(record["weights"])
        found = read_checkpoint(Path(checkpoint), names, Path(scratch)).called_as(names)
        if not names <= found.names() or is_quantized(found.folder):
            # transformers renames weights as it loads them, and makes some of several; codes may
            # have the name of the weight that they stand for.
            other = of_transformers(Path(checkpoint), Path(scratch))
            found = found if other is None else other.called_as(names)
        _check_program(record, found.folder)
        with bytes_written(destination) as progress:
            initializers, size, unused = _native.refresh_file(
                str(path),
                "" if out is None else str(out),
                list(found.in_files),
                found.tensors,
                progress,
            )
    return {
        "model": str(destination),
        "weights": len(record["weights"]),
        "initializers": initializers,
        "bytes": size,
        "unused": unused,
        "seconds": time.perf_counter() - begin,
    }


def _record(path: Path) -> dict[str, Any]:
    text = _native.metadata_of(str(path)).get(RECORD)
    if text is None:
        raise refusal(
            "SX1820",
            f"'{path}' has no record of how its weights were made",
            "export the model with this version of Sardonyx, from a PyTorch program",
        )
    try:
        record = json.loads(text)
        if not isinstance(record["weights"], dict):
            raise TypeError("its weights are no object")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise refusal(
            "SX1820", f"the model's record of its weights is damaged: {error}",
            "export the model again",
        ) from error  # fmt: skip
    return dict(record)


def _check_program(record: dict[str, Any], folder: Path) -> None:
    ours = record.get("program")
    if not isinstance(ours, dict):
        return
    problems = differences(ours, settings_in(folder))
    if problems:
        advice = "the checkpoint is of another program: export it instead"
        raise refusals([Diagnostic("SX1821", each, help=advice) for each in problems])


def _text_of(result: dict[str, Any]) -> str:
    seconds = max(result["seconds"], 1e-9)
    text = (
        f"{result['model']}: {result['initializers']} initializers of {result['weights']} weights, "
        f"{result['bytes'] / 1e6:.1f} MB in {seconds:.2f} s ({result['bytes'] / 1e9 / seconds:.2f} "
        "GB/s)"
    )
    if result["unused"]:
        names = ", ".join(result["unused"][:5])
        more = f" and {len(result['unused']) - 5} more" if len(result["unused"]) > 5 else ""
        text += f"\nnote: the model has no {names}{more}"
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

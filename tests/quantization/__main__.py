"""Static quantization of small models of the architectures in transformers, with random weights:

    python -m tests.quantization --most 30
    python -m tests.quantization --names bert,vit

Each is exported, quantized on random samples, checked and run: right, or what failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
import transformers

import sardonyx
from tests.architectures.capturing import first_runnable

# Frequent encoders and decoders, of texts, pictures and sounds.
_FIRST = (
    "bert", "roberta", "distilbert", "albert", "electra", "deberta-v2", "mpnet", "xlm-roberta",
    "gpt2", "llama", "mistral", "qwen2", "gemma", "phi", "opt", "bloom", "t5", "bart", "vit",
    "deit", "beit", "swin", "convnext", "convnextv2", "resnet", "mobilenet_v1", "mobilenet_v2",
    "mobilevit", "regnet", "segformer", "dinov2", "poolformer", "efficientnet", "clip", "wav2vec2",
    "whisper", "yolos", "detr", "levit", "pvt",
)  # fmt: skip


def session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options)


def outcome(name: str, folder: Path) -> str:
    """ "right", with the signal to noise, or what failed."""
    attempts: list[str] = []
    runnable = first_runnable(name, attempts)
    if runnable is None:
        return f"not exported: {attempts[-1] if attempts else 'no inputs'}"
    example = runnable.recipe.make(2, runnable.recipe.lengths[0])
    source, out = folder / "m.onnx", folder / "q.onnx"
    try:
        program = sardonyx.export(runnable.model, (), kwargs=example)
        program.save(source)
    except Exception as error:
        return f"not exported: {type(error).__name__}"
    inputs = session(source).get_inputs()
    if not all(torch.is_tensor(example.get(each.name)) for each in inputs):
        return "not exported: its inputs are not of one tensor each"
    feed = {each.name: example[each.name].numpy() for each in inputs}
    try:
        _, report = sardonyx.quantize(source, [feed], out)
        onnx.checker.check_model(str(out), full_check=True)
        found: list[Any] = session(out).run(None, feed)
    except sardonyx.ConversionError as error:
        codes = {each.code for each in error.diagnostics}
        return "nothing to quantize" if codes == {"SX1833"} else f"failed: {error}"
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"
    finite = all(np.isfinite(each).all() for each in found if each.dtype.kind == "f")
    return f"right: {len(report.layers)} layers, {report.snr:.1f} dB" if finite else "failed: NaN"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", help="of architectures, separated by commas")
    parser.add_argument("--most", type=int, default=30, help="so many that can be exported")
    options = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    names = options.names.split(",") if options.names else _FIRST
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if sum(counts.values()) - counts["not exported"] >= options.most:
                break
            try:
                result = outcome(name, Path(folder))
            except Exception as error:
                result = f"not exported: {type(error).__name__}: {error}"
            counts[result.partition(":")[0]] += 1
            print(f"{name}: {result[:300]}", flush=True)
    print(dict(counts))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

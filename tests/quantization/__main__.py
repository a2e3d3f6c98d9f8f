"""Static quantization of small models of the architectures in transformers or timm, with random
weights:

    python -m tests.quantization --most 30
    python -m tests.quantization --names bert,vit
    python -m tests.quantization --timm      (timm is no requirement: where it is installed)

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

# Of timm: convolutions of every kind, attention, and products alone.
_TIMM = (
    "resnet10t", "resnet18", "seresnet18", "resnext26ts", "regnetx_002", "regnety_002",
    "mobilenetv2_050", "mobilenetv3_small_050", "mobilenetv4_conv_small", "efficientnet_lite0",
    "tf_efficientnetv2_b0", "ghostnet_050", "mnasnet_small", "mixnet_s", "tinynet_e", "lcnet_050",
    "densenet121", "repvgg_a0", "convnext_atto", "convnextv2_atto", "edgenext_xx_small",
    "poolformer_s12", "vit_tiny_patch16_224", "deit_tiny_patch16_224",
    "swin_tiny_patch4_window7_224", "pvt_v2_b0", "xcit_nano_12_p16_224", "levit_128s",
    "mobilevit_xxs", "mobilevitv2_050",
    "fastvit_t8", "efficientformer_l1", "efficientvit_b0", "mixer_s32_224", "resmlp_12_224",
    "gmlp_ti16_224", "cait_xxs24_224", "coatnet_nano_rw_224",
)  # fmt: skip


def session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options)


def outcome_of_transformers(name: str, folder: Path) -> str:
    """ "right", with the signal to noise, or what failed."""
    attempts: list[str] = []
    runnable = first_runnable(name, attempts)
    if runnable is None:
        return f"not exported: {attempts[-1] if attempts else 'no inputs'}"
    example = runnable.recipe.make(2, runnable.recipe.lengths[0])
    try:
        program = sardonyx.export(runnable.model, (), kwargs=example)
    except Exception as error:
        return f"not exported: {type(error).__name__}: {error}"
    return outcome(program, example, folder)


def outcome_of_timm(name: str, folder: Path) -> str:
    """The same, of a model for pictures."""
    import timm

    torch.manual_seed(0)
    model = timm.create_model(name, num_classes=10).eval()
    size = model.default_cfg["input_size"]
    example = {"x": torch.randn(2, *size, generator=torch.Generator().manual_seed(1))}
    try:
        program = sardonyx.export(model, (example["x"],), input_names=["x"])
    except Exception as error:
        return f"not exported: {type(error).__name__}: {error}"
    return outcome(program, example, folder)


def outcome(program: Any, example: dict[str, Any], folder: Path) -> str:
    """What quantization gives, on the very sample."""
    source, out = folder / "m.onnx", folder / "q.onnx"
    program.save(source)
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
    decibels = "" if report.snr is None else f", {report.snr:.1f} dB"
    return f"right: {len(report.layers)} layers{decibels}" if finite else "failed: NaN"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", help="of architectures, separated by commas")
    parser.add_argument("--most", type=int, default=30, help="so many that can be exported")
    parser.add_argument("--timm", action="store_true", help="models of timm")
    options = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    first, outcome_of = (
        (_TIMM, outcome_of_timm) if options.timm else (_FIRST, outcome_of_transformers)
    )
    names = options.names.split(",") if options.names else first
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if sum(counts.values()) - counts["not exported"] >= options.most:
                break
            try:
                result = outcome_of(name, Path(folder))
            except Exception as error:
                result = f"not exported: {type(error).__name__}: {error}"
            counts[result.partition(":")[0]] += 1
            print(f"{name}: {result[:300]}", flush=True)
    print(dict(counts))
    # Too few that could be exported say nothing of the others.
    tried = sum(counts.values()) - counts["not exported"]
    return 1 if counts["failed"] or tried < min(options.most, len(names)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

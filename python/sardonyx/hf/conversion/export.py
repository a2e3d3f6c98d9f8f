"""`sardonyx.hf.export`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sardonyx import _native
from sardonyx._base.choices import CaptureStrategy, Runtime
from sardonyx._base.errors import UsageError, refusal
from sardonyx._optimize.precision import PRECISIONS, Precision, To
from sardonyx.hf.checkpoints.checkpoint import GGUF
from sardonyx.hf.output.report import Report

from .adapting import Adapters
from .decoder_options import DecoderOptions
from .job import Job
from .quantized_cache import CacheQuantization

if TYPE_CHECKING:
    import torch

    from sardonyx.hf.base.progress import Progress

    from .graphs import ExportTarget

# The targets of runtimes whose providers have their own.
_PROVIDERS: dict[str, dict[str, Runtime]] = {
    "onnxruntime": {
        "cpu": "onnxruntime-cpu",
        "cuda": "onnxruntime-cuda",
        "webgpu": "webgpu",
    },
    "onnxruntime-genai": {
        "cpu": "onnxruntime-genai",
        "cuda": "onnxruntime-genai-cuda",
        "webgpu": "onnxruntime-genai-webgpu",
        "dml": "onnxruntime-genai-dml",
    },
}
PrecisionName: TypeAlias = Literal["fp32"] | To


def export(
    model: str | os.PathLike[str] | torch.nn.Module,
    out: str | os.PathLike[str] | None = None,
    *,
    task: str | None = None,
    precision: PrecisionName | Precision = "fp32",
    runtime: Runtime = "onnxruntime",
    provider: str | None = None,
    opset: int | None = None,
    verify: bool = False,
    weights_in_place: bool = False,
    trust_remote_code: bool = False,
    image_size: int | None = None,
    adapters: Sequence[str | os.PathLike[str]] = (),
    merge_adapters: Sequence[str | os.PathLike[str]] = (),
    split: int | None = None,
    last_logits: bool = False,
    hidden_states: bool = False,
    draft: str | os.PathLike[str] | None = None,
    mtp: Any = None,
    static_cache: int | None = None,
    cache_type: Literal["int8", "int4"] | None = None,
    cache_scales: Literal["channel", "tensor"] = "channel",
    cache_prompts: Sequence[str | torch.Tensor] = (),
    capture: CaptureStrategy = "auto",
    fixed: Mapping[str, int] | None = None,
    max_sizes: Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Exports a Hugging Face checkpoint to a folder of ONNX models.

    Parameters:
        model: the folder of a checkpoint (config.json and safetensors, GGUF, or what
            torch.distributed.checkpoint wrote) or a GGUF file, whose weights are streamed; or a
            model of transformers in memory.
        out: the folder to write; complete when this returns, untouched when it raises.
        task: a task of optimum, "text-generation-with-past"; by default that of the class that the
            checkpoint was saved from, with its KV cache.
        precision: "fp32", "fp16", "bf16", "int8", "int4", "fp16+int8", "fp16+int4", or a
            `sardonyx.Precision`.
        runtime: the target runtime, as `target_runtime` of `sardonyx.export`.
        provider: the execution provider of the runtime: "cpu", "cuda" or "webgpu", for
            "onnxruntime" and "onnxruntime-genai"; "dml" for the latter.
        opset: 13 to 28; by default the best one for the runtime.
        verify: compare with PyTorch: greedy tokens for models that generate, else outputs. The
            model is then loaded into memory.
        weights_in_place: write the ONNX models into the checkpoint's folder, and refer to the
            weights in its files. Quantized and computed weights are written next to them.
        trust_remote_code: run code that the checkpoint brings.
        image_size: side length of the (square) images for the capture; by default the
            configuration's. Encoders that take the size as an input are for this size alone.
        adapters: folders of LoRA adapters of peft, which become inputs of the model: one file
            `<folder's name>.onnx_adapter` for each, to be given to a run of ONNX Runtime or
            onnxruntime-genai. Without one, the model is as without adapters.
        merge_adapters: folders of LoRA adapters that are merged into the weights, in this order.
        split: into how many files the layers go, in their order: "layers_0.onnx" and so on, with
            "embeddings.onnx" before them and "head.onnx" after them. Each weight is there once.
        last_logits: logits are those of the last token alone, [batch, 1, vocabulary].
        hidden_states: a further output, what the head reads: [batch, sequence, hidden size].
        draft: the folder of a smaller checkpoint with the same vocabulary, whose tokens
            onnxruntime-genai has the model check several at a time; written to "draft".
        mtp: a head for multi-token prediction, whose tokens onnxruntime-genai has the model check:
            True for the one that a folder has, and `transformers.modeling_layers.MtpModel` for a
            model in memory. Its first layer is written to "mtp", with the weights that the model
            shares with it.
        static_cache: for how many tokens the cache has places, prompt included: a buffer of this
            size that the model writes new tokens into. By default the cache grows.
        cache_type: the type that keys and values are kept in; by default that of the model. The
            model runs over `cache_prompts` in ONNX Runtime for it.
        cache_scales: whether each channel of each head has a scale, or each layer one for its
            keys and one for its values.
        cache_prompts: texts, or tokens [length] of texts, by which the scales are chosen.
        capture: as for `sardonyx.export`.
        fixed: as for `sardonyx.optimize`.
        max_sizes: as for `sardonyx.optimize`.
        progress: receives each step.

    Returns:
        A report. Its parts, inputs and outputs have the names of optimum; the tokenizer and
            configurations are next to the models.

    Raises:
        UsageError: an argument is invalid (SX2002 task, SX2003 remote code, SX2008 folder, SX2010
            weights in place, SX2011 adapters, SX2012 options of decoders).
        ProgramError: the checkpoint is incomplete (SX2001, SX2004, SX2005).

        Also what `sardonyx.export` raises.
    """
    from sardonyx.hf.base.packages import transformers
    from sardonyx.hf.base.progress import Progress as Silent
    from sardonyx.hf.inputs.image_inputs import of_size

    transformers()
    target = dataclasses.replace(
        _target(precision, _of_provider(runtime, provider), opset, capture),
        fixed=dict(fixed or {}),
        max_sizes=dict(max_sizes or {}),
    )
    decoder = DecoderOptions(
        split,
        last_logits,
        hidden_states,
        Path(draft) if draft else None,
        static_cache,
        None if cache_type is None else CacheQuantization(cache_type, cache_scales, cache_prompts),
        None if mtp is False else mtp,
    )
    decoder.check(adapted=bool(adapters), runtime=target.runtime, in_place=weights_in_place)
    job = Job(
        _place(model, out, weights_in_place),
        weights_in_place,
        task,
        target,
        progress or Silent(),
        adapters=Adapters(
            [Path(each) for each in adapters], [Path(each) for each in merge_adapters]
        ),
        decoder=decoder,
    )
    if image_size is not None and image_size < 1:
        raise refusal("SX1001", f"there is no image of {image_size} pixels a side", "", UsageError)
    with of_size(image_size):
        if isinstance(model, (str, os.PathLike)):
            return job.of_folder(Path(model), trust_remote_code, verify)
        if merge_adapters:
            raise refusal(
                "SX1001",
                "adapters are merged into the weights of checkpoints, not into a model in memory",
                "merge them with peft: model.merge_and_unload()",
                UsageError,
            )
        return job.of_model(model, verify)


def _place(model: Any, out: str | os.PathLike[str] | None, in_place: bool) -> Path:
    """The folder to write."""
    if not in_place:
        if out is None:
            raise refusal("SX1001", "no folder was named to write the export to", "", UsageError)
        return Path(out)
    if not isinstance(model, (str, os.PathLike)):
        raise refusal(
            "SX1001",
            "the weights of a model in memory are in no files that an export could refer to",
            "save_pretrained() it, and export that folder",
            UsageError,
        )
    folder = Path(model) if Path(model).suffix != GGUF else Path(model).parent
    if out is not None and Path(out).resolve() != folder.resolve():
        raise refusal(
            "SX2010",
            f"models that refer to the weights of {os.fspath(model)} have to lie there, not in "
            f"{os.fspath(out)}: runtimes read no files outside of a model's folder",
            "leave the folder to write out",
            UsageError,
        )
    return folder


def _of_provider(runtime: Runtime, provider: str | None) -> Runtime:
    """The target for a provider of the runtime. SX1010 where there is none."""
    if provider is None:
        return runtime
    targets = _PROVIDERS.get(runtime, {})
    if provider not in targets:
        known = ", ".join(f"{name} with {', '.join(each)}" for name, each in _PROVIDERS.items())
        raise refusal(
            "SX1010",
            f"there is no provider '{provider}' of the runtime '{runtime}'",
            f"choose {known}",
            UsageError,
        )
    return targets[provider]


def _target(
    precision: PrecisionName | Precision,
    runtime: Runtime,
    opset: int | None,
    capture: CaptureStrategy,
) -> ExportTarget:
    from .graphs import ExportTarget

    names = ("fp32", *PRECISIONS)
    if isinstance(precision, str) and precision not in names:
        raise refusal(
            "SX1001", f"there is no precision '{precision}'", ", ".join(names), UsageError
        )
    if runtime not in _native.target_names():
        raise refusal(
            "SX1010",
            f"there is no runtime '{runtime}'",
            ", ".join(_native.target_names()),
            UsageError,
        )
    if isinstance(precision, Precision):
        held: Precision | None = precision
    elif precision == "fp32":
        held = None
    else:
        held = Precision(precision, io=precision not in ("int8", "int4"))
    return ExportTarget(held, runtime, opset, capture)

"""An adapter in a folder that peft wrote: adapter_config.json and adapter_model.safetensors.

A layer's weight W becomes W + scale * B A. The form is documented in peft's checkpoint format
(https://huggingface.co/docs/peft/developer_guides/checkpoint).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sardonyx._base.errors import Diagnostic, OnnxExporterError, refusals
from sardonyx._model.weight_files import WeightInFile, weights_in
from sardonyx.hf.checkpoints.weights import mapped

# What the files end in that ONNX Runtime reads.
SUFFIX = ".onnx_adapter"
CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
CODE = "SX2011"
_REAL = ("float64", "float32", "float16", "bfloat16")
_KEY = re.compile(
    r"(?:base_model\.model\.)?(?P<layer>.+)\.lora_(?P<side>[AB])(?:\.default)?\.weight"
)
# Settings of kinds that compute something else than scale * B A, and what they are where they do
# not.
_PLAIN: dict[str, tuple[Any, ...]] = {
    "use_dora": (None, False),
    "bias": (None, "none"),
    "lora_bias": (None, False),
    "modules_to_save": (None, []),
    "trainable_token_indices": (None, []),
    "layer_replication": (None, []),
    "target_parameters": (None, []),
    "use_qalora": (None, False),
    "alora_invocation_tokens": (None, []),
}


@dataclass(frozen=True)
class AdaptedLayer:
    """The factors that an adapter adds to a layer's weight.

    Attributes:
        a: [rank, inputs of the layer].
        b: [outputs of the layer, rank].
        scale: of their product.
    """

    a: WeightInFile
    b: WeightInFile
    scale: float

    @property
    def widths(self) -> tuple[int, int]:
        """The layer's inputs and outputs."""
        return self.a.dims[1], self.b.dims[0]

    def matrices(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Float32 [inputs, rank] and [rank, outputs], the second times the scale."""
        down, up = (mapped(each).to(torch.float32).t() for each in (self.a, self.b))
        return down.contiguous(), (up * self.scale).contiguous()


@dataclass(frozen=True)
class Adapter:
    """An adapter.

    Attributes:
        name: of its folder, and of the file that is written.
        layers: by the path of the layer in the model.
    """

    name: str
    layers: Mapping[str, AdaptedLayer]


def read_adapters(folders: Sequence[Path], model: torch.nn.Module) -> list[Adapter]:
    """The adapters in these folders, for a model. SX2011 for every folder that holds none, for
    every layer that does not fit the model, and for two adapters of one name."""
    problems: list[str] = []
    found: list[Adapter] = []
    for folder in folders:
        try:
            adapter = _read(folder)
        except OnnxExporterError as error:
            problems += [each.message for each in error.diagnostics] or [str(error)]
            continue
        problems += _misfits(adapter, folder, model)
        if any(adapter.name == other.name for other in found):
            problems.append(f"two adapters are called '{adapter.name}': rename one folder")
        found.append(adapter)
    if problems:
        raise _refusal(problems)
    return found


def _refusal(problems: Sequence[str]) -> OnnxExporterError:
    return refusals([Diagnostic(CODE, problem, help=_ADVICE) for problem in problems])


_ADVICE = (
    "an adapter is a folder of peft, of kind LORA, trained for this model; peft itself merges "
    "other kinds: model.merge_and_unload().save_pretrained(...)"
)


def _read(folder: Path) -> Adapter:
    try:
        settings = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        kind = dict(settings)["peft_type"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _refusal([f"{folder} has no {CONFIG} that can be read: {error}"]) from error
    problems = [] if kind == "LORA" else [f"{folder} is an adapter of kind {kind}"]
    problems += [
        f"{folder} has {name}={settings[name]!r}"
        for name, plain in _PLAIN.items()
        if settings.get(name) not in plain
    ]
    if not (folder / WEIGHTS).is_file():
        problems.append(f"{folder} has no {WEIGHTS}")
    if problems:
        raise _refusal(problems)
    return Adapter(folder.resolve().name, _layers(folder, settings))


def _layers(folder: Path, settings: Mapping[str, Any]) -> dict[str, AdaptedLayer]:
    sides: dict[str, dict[str, WeightInFile]] = {}
    problems = []
    for weight in weights_in(folder / WEIGHTS):
        known = _KEY.fullmatch(weight.name)
        real = weight.dtype in _REAL
        if known is None or len(weight.dims) != 2 or not min(weight.dims) or not real:
            problems.append(
                f"{folder} has '{weight.name}', {weight.dtype}{weight.dims}, which is no matrix of "
                "a linear layer's adapter"
            )
            continue
        sides.setdefault(known["layer"], {})[known["side"]] = weight
    layers = {}
    for path, both in sides.items():
        if len(both) != 2 or both["A"].dims[0] != both["B"].dims[1]:
            shapes = {side: weight.dims for side, weight in both.items()}
            problems.append(f"{folder} has for {path} {shapes}, which do not fit each other")
            continue
        rank = both["A"].dims[0]
        try:
            expected = _by_pattern(path, settings.get("rank_pattern"), settings.get("r", rank))
            scale = _scale(path, rank, settings)
        except (TypeError, ValueError, AttributeError, re.error) as error:
            raise _refusal([f"{folder / CONFIG} has no scale for {path}: {error}"]) from error
        if expected != rank:
            problems.append(
                f"{folder} has matrices of rank {rank} for {path}, and by its {CONFIG} they are of "
                f"rank {expected}"
            )
            continue
        layers[path] = AdaptedLayer(both["A"], both["B"], scale)
    if problems or not layers:
        raise _refusal(problems or [f"{folder}/{WEIGHTS} has no LoRA matrices"])
    return layers


def _scale(path: str, rank: int, settings: Mapping[str, Any]) -> float:
    """alpha / rank, or alpha / sqrt(rank)."""
    alpha = _by_pattern(path, settings.get("alpha_pattern"), settings.get("lora_alpha", 8))
    return float(alpha) / (math.sqrt(rank) if settings.get("use_rslora") else rank)


def _by_pattern(path: str, patterns: Mapping[str, Any] | None, default: Any) -> Any:
    """The value of the first pattern that is the end of a path, as in peft."""
    for pattern, value in (patterns or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", path):
            return value
    return default


def _misfits(adapter: Adapter, folder: Path, model: torch.nn.Module) -> list[str]:
    known = dict(model.named_modules())
    problems = []
    for path, layer in adapter.layers.items():
        module = known.get(path)
        widths = widths_of(module)
        if module is None:
            problems.append(f"{folder} is for a layer {path}, which the model does not have")
        elif widths != layer.widths:
            problems.append(
                f"{folder} is for a {path} of {layer.widths[0]} inputs and {layer.widths[1]} "
                f"outputs, and the model's is a {type(module).__name__} "
                + (f"of {widths[0]} and {widths[1]}" if widths else "that takes no adapter")
            )
    return problems


def widths_of(module: torch.nn.Module | None) -> tuple[int, int] | None:
    """The inputs and outputs of a linear layer; None for another module."""
    weight = getattr(module, "weight", None)
    if not isinstance(weight, torch.Tensor) or weight.dim() != 2:
        return None
    if isinstance(module, torch.nn.Linear):
        return weight.shape[1], weight.shape[0]
    # transformers' Conv1D, of GPT-2, has the transposed weight.
    return (weight.shape[0], weight.shape[1]) if hasattr(module, "nf") else None

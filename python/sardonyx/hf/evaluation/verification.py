"""Compares exported folders with PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from sardonyx import _native
from sardonyx._base.errors import Diagnostic, VerificationError, refusals
from sardonyx._compare.tensors import difference
from sardonyx.hf.base.example import BATCH, Tensors
from sardonyx.hf.base.parts import fixed_arguments, named_outputs
from sardonyx.hf.checkpoints.building import filled
from sardonyx.hf.components.encoder_decoders import FIRST
from sardonyx.hf.components.sentence_embeddings import SentenceEmbedder, SentencePooling
from sardonyx.hf.inputs.input_search import accepted_example

from .references import as_sure, farthest, of_pytorch
from .running import ExportedFolder
from .sessions import Sessions
from .speed import speed_of_both
from .token_comparison import tokens, tokens_after_media, tokens_of_encoder

if TYPE_CHECKING:
    from sardonyx.hf.base.parts import Part
    from sardonyx.hf.base.tasks import ExportChoice
    from sardonyx.hf.checkpoints.dequantized_reference import DequantizedValues
    from sardonyx.hf.checkpoints.weights import PlacedWeights
    from sardonyx.hf.output.report import Report


def compare(
    model: torch.nn.Module,
    chosen: ExportChoice,
    folder: Path,
    report: Report,
    sentences: SentencePooling | None = None,
    *,
    held: DequantizedValues | None = None,
) -> dict[str, Any]:
    """What was compared, and the results.

    Raises SX1901 in a VerificationError where float32 outputs differ beyond rounding. The error of
    other precisions is only measured, since it is expected. A model with block-wise quantized
    weights is also compared with PyTorch on the dequantized values, `held`. That tells a wrong
    model from one that quantization made inaccurate. Its outputs must agree unless the runtime
    quantizes the activations, too, or some weights of the PyTorch model have no such values.
    """
    loaded = ExportedFolder(folder, report.as_dict())
    found = _compared(model, chosen, loaded, sentences)
    _judge(report, found)
    report.speed = speed_of_both(model, chosen, loaded)
    if held:
        others = held.put(model)
        exact = ExportedFolder(folder, report.as_dict(), rounds=False)
        of_held = _compared(model, chosen, exact, sentences)
        rounds_activations = _native.target_accuracy_level(report.runtime) > 0
        rounds = rounds_activations or report.precision not in ("int8", "int4")
        if of_held["different"] and not others and not rounds:
            raise refusals(
                [
                    Diagnostic("SX1901", f"with the weights as they are held in blocks, {text}")
                    for text in of_held["different"]
                ],
                VerificationError,
            )
        found["held"] = of_held | {"weights in another form": others, "factors are rounded": rounds}
    return found


def _compared(
    model: torch.nn.Module,
    chosen: ExportChoice,
    loaded: ExportedFolder,
    sentences: SentencePooling | None,
) -> dict[str, Any]:
    if loaded.takes_embeddings:
        return tokens_after_media(model, chosen, loaded)
    if chosen.with_past and FIRST not in loaded.part_names:
        return tokens(model, loaded)
    if chosen.task.generates and FIRST in loaded.part_names:
        return tokens_of_encoder(model, chosen, loaded)
    return _outputs(model, chosen, loaded, sentences)


def compare_part(part: Part, placed: PlacedWeights, folder: Path, report: Report) -> None:
    """A part that is run as it is, with the weights of its checkpoint, at its example's sizes and
    for one row; what was compared is added to the report, SX1901 as by compare()."""
    model: Any = part.module.model
    filled(model, placed)
    with torch.no_grad():
        sets = [part.inputs, {n: _one_row(v, part.dims[n]) for n, v in part.inputs.items()}]
        wanted = [part.module(inputs) for inputs in sets]
    loaded = Sessions(folder)
    found: dict[str, Any] = {"outputs": 0, "largest difference": 0.0, "different": []}
    found |= report.verified
    for inputs, values in zip(sets, wanted, strict=True):
        got = loaded(part.name, **inputs)
        for name, value in zip(part.outputs, values, strict=True):
            found["outputs"] += 1
            text = difference(got[name], value)
            if text is not None:
                found["different"].append(f"output '{name}' of {part.name}: {text}")
            elif value.numel():
                worst = farthest(got[name], value)
                found["largest difference"] = max(worst, found["largest difference"])
    report.verified = found
    _judge(report, found)


def _one_row(value: torch.Tensor, axes: dict[int, str]) -> torch.Tensor:
    return value[:1] if axes.get(0) == BATCH else value


def _judge(report: Report, found: dict[str, Any]) -> None:
    if report.precision == "fp32" and found["different"]:
        raise refusals(
            [Diagnostic("SX1901", text) for text in found["different"]], VerificationError
        )


def _outputs(
    model: torch.nn.Module,
    chosen: ExportChoice,
    loaded: ExportedFolder,
    sentences: SentencePooling | None,
) -> dict[str, Any]:
    """The outputs at another batch and length than the example's."""
    example, _, _ = accepted_example(model, model.config, chosen.task, chosen.in_one)
    shapes = loaded.inputs("model")
    sizes = _other_sizes(shapes, example)
    inputs = example.make(*sizes)
    with torch.no_grad():
        if sentences is not None:
            names = ("token_embeddings", "sentence_embedding")
            wanted = dict(zip(names, SentenceEmbedder(model, sentences)(inputs), strict=True))
        else:
            known = example.known(sizes[0])
            wanted = named_outputs(model(**inputs, **known, **fixed_arguments(model)))
    got = loaded("model", **{name: inputs[name] for name in shapes})
    texts = {
        name: text
        for name, value in got.items()
        if name in wanted and (text := difference(value, wanted[name])) is not None
    }
    unsure = _unsure(model, inputs | example.known(sizes[0]), got, wanted) if texts else set()
    different = [
        f"output '{name}' differs from eager PyTorch: {text}"
        for name, text in texts.items()
        if name not in unsure
    ]
    worst = max(
        (
            farthest(value, wanted[name])
            for name, value in got.items()
            if name in wanted and value.shape == wanted[name].shape and value.numel()
        ),
        default=0.0,
    )
    found = {"outputs": len(got), "largest difference": worst, "different": different}
    if unsure & set(texts):
        found["unsure"] = [
            f"output '{name}': {texts[name]}; PyTorch's own differs as much from itself"
            for name in sorted(unsure & set(texts))
        ]
    return found


def _unsure(model: torch.nn.Module, inputs: Tensors, got: Tensors, wanted: Tensors) -> set[str]:
    """The outputs that are as near to PyTorch's as PyTorch's are to the exact ones."""

    def run(wide: torch.nn.Module, values: Tensors) -> Tensors:
        with torch.no_grad():
            return named_outputs(wide(**values, **fixed_arguments(wide)))

    others = of_pytorch(model, inputs, run)
    return {
        name
        for name, value in got.items()
        if name in wanted
        and as_sure(value, wanted[name], [each[name] for each in others if name in each])
    }


def _other_sizes(shapes: dict[str, list[Any]], example: Any) -> tuple[int, int]:
    """Three rows and the second length, where the model leaves them free."""
    free = {size for shape in shapes.values() for size in shape if isinstance(size, str)}
    of_length = {name for dims in example.dims.values() for axis, name in dims.items() if axis > 0}
    of_batch = {name for name, dims in example.dims.items() if dims.get(0) == "batch_size"}
    rows = [shapes[name][0] for name in of_batch & set(shapes)]
    one = 1 if example.known(1) else 3
    batch = next((size for size in rows if isinstance(size, int)), one)
    length = example.lengths[1] if of_length & free else example.lengths[0]
    return batch, length

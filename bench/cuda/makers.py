"""Files of a model in a precision, by maker."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import sardonyx

from . import verdicts
from .models import Subject

PRECISIONS = ("fp32", "fp16", "bf16", "int4")
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}
# Weights in 4 bits, the rest in half precision.
_OURS = {"int4": "fp16+int4"}


def _sardonyx(
    subject: Subject, precision: str, path: Path, runtime: str, opset: int | None
) -> None:
    # In half precision, what is for the provider is made of the model that is in half already.
    target: Any = runtime if precision == "fp32" else "standard"
    program = sardonyx.export(
        subject.model, (), kwargs=subject.inputs(2), dynamic_shapes=subject.free,
        target_runtime=target, opset_version=23 if target == "standard" else None,
    )  # fmt: skip
    if precision == "fp32":
        program.save(path)
        return
    to: Any = _OURS.get(precision, precision)
    wanted = sardonyx.Precision(to, io=True)
    sardonyx.optimize(program, path, runtime=runtime, opset=opset, precision=wanted)


def ours(subject: Subject, precision: str, path: Path) -> None:
    _sardonyx(subject, precision, path, "onnxruntime-cuda", None)


def standard(subject: Subject, precision: str, path: Path) -> None:
    _sardonyx(subject, precision, path, "standard", 23)


def torch_onnx(subject: Subject, precision: str, path: Path) -> None:
    if precision == "int4":
        raise NotImplementedError("it has no weights of 4 bits")
    dtype = DTYPES.get(precision, torch.float32)
    model = copy.deepcopy(subject.model).to(dtype)
    inputs = in_type(subject.inputs(2), dtype)
    with contextlib.redirect_stdout(io.StringIO()):
        made = torch.onnx.export(
            model, (), kwargs=inputs, dynamic_shapes=subject.free, dynamo=True, verbose=False
        )
    assert made is not None
    made.save(str(path))


def optimizer(subject: Subject, precision: str, path: Path) -> None:
    """ONNX Runtime's, of torch.onnx's model in float32, with its own float16."""
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions

    if not subject.kind or precision not in ("fp32", "fp16"):
        raise NotImplementedError("it does not know the model, or the precision")
    source = path.with_name(f"{path.stem}-source.onnx")
    torch_onnx(subject, "fp32", source)
    options = FusionOptions(subject.kind)
    made = optimizer.optimize_model(
        str(source), model_type=subject.kind, optimization_options=options, opt_level=0,
        use_gpu=True,
    )  # fmt: skip
    if precision == "fp16":
        made.convert_float_to_float16(keep_io_types=False)
    made.save_model_to_file(str(path))


def in_type(inputs: dict[str, torch.Tensor], dtype: torch.dtype) -> dict[str, torch.Tensor]:
    return {n: x.to(dtype) if x.is_floating_point() else x for n, x in inputs.items()}


MAKERS: dict[str, Callable[[Subject, str, Path], None]] = {
    verdicts.OURS: ours,
    verdicts.STANDARD: standard,
    "torch.onnx": torch_onnx,
    "ORT's optimizer": optimizer,
}

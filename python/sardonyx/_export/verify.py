"""Compares a model with eager PyTorch on the example inputs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic, VerificationError
from sardonyx._compare.differences import VerificationInfo
from sardonyx._model.inputs import values_in

if TYPE_CHECKING:
    import torch

    from sardonyx._model.program import ONNXProgram

# Relative and absolute tolerance by dtype; everything else must be equal. Sums run in another order
# in ONNX Runtime, and a model stacks dozens of them.
_TOLERANCES = {
    "float64": (1e-7, 1e-8),
    "float32": (1e-3, 1e-4),
    "float16": (1e-2, 2e-3),
    "bfloat16": (5e-2, 2e-2),
}


def verify_example(program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises VerificationError (SX1901) for every output that differs from eager PyTorch's."""
    import torch

    exported = program.exported_program
    if exported is None:
        return
    if not args and not kwargs and exported.example_inputs is not None:
        args, kwargs = exported.example_inputs
    with torch.no_grad():
        module = exported.module()
        results = module(*copy.deepcopy(args), **copy.deepcopy(dict(kwargs)))
    expected = values_in(results)
    actual = program(*args, **kwargs)
    program.accuracy = tuple(_accuracy(program.output_names, expected, actual))
    names = program.output_names
    findings = [
        Diagnostic("SX1901", f"output '{name}' differs from eager PyTorch: {text}")
        for name, got, want in zip(names, actual, expected, strict=False)
        if (text := difference(got, torch.as_tensor(want))) is not None
    ]
    if findings:
        raise VerificationError("\n".join(d.message for d in findings), findings)


def _accuracy(
    names: Sequence[str], expected: Sequence[Any], actual: Sequence[torch.Tensor]
) -> Iterator[VerificationInfo]:
    for name, want, got in zip(names, expected, actual, strict=False):
        try:
            yield VerificationInfo.from_tensors(name, want, got)
        except ValueError:  # of other shapes, which is told as such
            continue


def difference(actual: torch.Tensor, expected: torch.Tensor) -> str | None:
    """What differs, or None: dtype, shape, then values. NaN equals NaN."""
    import torch

    expected = expected.detach().resolve_conj().resolve_neg().cpu()
    if expected.is_complex():
        expected = torch.view_as_real(expected)
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype} instead of {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)} instead of {list(expected.shape)}"
    if expected.numel() == 0:
        return None
    relative, absolute = _TOLERANCES.get(str(expected.dtype).removeprefix("torch."), (0.0, 0.0))
    got, want = actual.to(torch.float64), expected.to(torch.float64)
    wrong = ~torch.isclose(got, want, rtol=relative, atol=absolute, equal_nan=True)
    if not bool(wrong.any()):
        return None
    worst = float((got - want).abs()[wrong].nan_to_num(nan=float("inf")).max())
    return f"{int(wrong.sum())} of {wrong.numel()} values, by up to {worst:.3g}"


__all__: Sequence[str] = ["difference", "verify_example"]

"""Compares a model with eager PyTorch on the example inputs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic, VerificationError
from sardonyx._compare.differences import VerificationInfo
from sardonyx._compare.tensors import difference
from sardonyx._model.inputs import values_in

if TYPE_CHECKING:
    import torch

    from sardonyx._model.program import ONNXProgram


def verify_example(program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises VerificationError (SX1901) for every output that differs from eager PyTorch's."""
    import torch

    captured = program.captured
    if captured is None:
        return
    if not args and not kwargs and captured.example_inputs is not None:
        args, kwargs = captured.example_inputs
    with torch.no_grad():
        module = captured.module() if hasattr(captured, "module") else captured.exported().module()
        results = module(*copy.deepcopy(args), **copy.deepcopy(dict(kwargs)))
    expected = values_in(results)
    actual = program(*args, **kwargs)
    program.accuracy = tuple(_accuracy(program.output_names, expected, actual))
    names = program.output_names
    findings = [
        Diagnostic("SX1901", f"output '{name}' differs from eager PyTorch: {text}")
        for name, got, want in zip(names, actual, expected, strict=False)
        if (text := difference(got, want)) is not None
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

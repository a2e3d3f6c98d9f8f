"""Compares a model with the module in eager PyTorch, at the example's sizes and at others."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic, VerificationError
from sardonyx._capture.shapes.dim_names import symbol_names
from sardonyx._compare.differences import VerificationInfo
from sardonyx._compare.tensors import difference
from sardonyx._model.inputs import values_in

from .other_sizes import inputs_of_other_sizes, labels_of_sizes

if TYPE_CHECKING:
    import torch

    from sardonyx._capture.shapes.dim_spec import Leaf
    from sardonyx._model.program import ONNXProgram

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


def verify_example(
    program: ONNXProgram,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    model: Any = None,
    leaves: Sequence[Leaf] = (),
) -> None:
    """Raises VerificationError (SX1901) for every output that differs from that of `model` in eager
    PyTorch, or of the captured program where there is no model. `leaves` say which sizes may be
    others; those for which PyTorch raises are left out."""
    captured = program.captured
    if captured is None:
        return
    if not args and not kwargs and captured.example_inputs is not None:
        args, kwargs = captured.example_inputs
    run = _eager(captured if model is None else model)
    example: Inputs = (args, dict(kwargs))
    expected = values_in(run(example))
    actual = program(*args, **kwargs)
    program.accuracy = tuple(_accuracy(program.output_names, expected, actual))
    findings = list(_findings(program.output_names, expected, actual, ""))
    if not findings and getattr(captured, "graph", None) is not None:  # none of a ScriptProgram
        names = labels_of_sizes(captured, leaves) | symbol_names(captured, leaves)
        for sizes, inputs in inputs_of_other_sizes(captured, example, leaves):
            where = ", ".join(f"{names.get(name, name)} is {size}" for name, size in sizes.items())
            findings += _compared(program, run, inputs, where)
            if findings:
                break
    if findings:
        raise VerificationError("\n".join(d.message for d in findings), findings)


def _eager(model: Any) -> Callable[[Inputs], Any]:
    """What runs the model on copies of inputs, and leaves it as it was."""
    import torch

    from sardonyx._capture.patches.restoration import module_kept
    from sardonyx._capture.strategies.buffers import buffers_put_back

    def run(inputs: Inputs) -> Any:
        args, kwargs = copy.deepcopy(inputs)
        with torch.no_grad():
            if isinstance(model, torch.nn.Module) and not isinstance(model, torch.jit.ScriptModule):
                with module_kept(model), buffers_put_back(model):
                    return model(*args, **kwargs)
            return module(*args, **kwargs)

    if hasattr(model, "graph_signature"):
        made = model if hasattr(model, "module") else model.exported()
        module = made.module()
    else:
        module = model
    return run


def _compared(
    program: ONNXProgram, run: Callable[[Inputs], Any], inputs: Inputs, where: str
) -> list[Diagnostic]:
    try:
        expected = values_in(run(inputs))
    except Exception:
        return []  # PyTorch takes no such sizes
    try:
        actual = program(*inputs[0], **inputs[1])
    except Exception as error:
        lines = str(error).strip().splitlines()
        text = f"the model fails where {where}, and eager PyTorch does not: {lines[-1:] or ['']}"
        return [Diagnostic("SX1901", text)]
    return list(_findings(program.output_names, expected, actual, f", where {where}"))


def _findings(
    names: Sequence[str], expected: Sequence[Any], actual: Sequence[torch.Tensor], where: str
) -> Iterator[Diagnostic]:
    for name, got, want in zip(names, actual, expected, strict=False):
        if (text := difference(got, want)) is not None:
            yield Diagnostic("SX1901", f"output '{name}' differs from eager PyTorch{where}: {text}")


def _accuracy(
    names: Sequence[str], expected: Sequence[Any], actual: Sequence[torch.Tensor]
) -> Iterator[VerificationInfo]:
    for name, want, got in zip(names, expected, actual, strict=False):
        try:
            yield VerificationInfo.from_tensors(name, want, got)
        except ValueError:  # of other shapes, which is reported as such
            continue

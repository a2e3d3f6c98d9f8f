"""Captures a module, exports it, and compares the model with eager PyTorch."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import onnx
import torch
from torch.export import ExportedProgram

from sardonyx._compare.tolerances import Tolerance

from .comparison import difference
from .interface import model_inputs, model_outputs
from .runtime import Session
from .wellformed import assert_wellformed


class Calls(torch.nn.Module):
    """A module of one input, `x`, that gives what a function gives."""

    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


@dataclass(frozen=True)
class Inputs:
    """Where tests pass several: a tuple stands for positional, a dict for keyword arguments."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(inputs: Inputs | tuple[Any, ...] | dict[str, Any]) -> Inputs:
        if isinstance(inputs, Inputs):
            return inputs
        return Inputs(inputs) if isinstance(inputs, tuple) else Inputs((), inputs)

    def copied(self) -> Inputs:
        return copy.deepcopy(self)


@dataclass
class Exported:
    """What `assert_exports` made, for tests that look closer."""

    program: Any
    exported_program: ExportedProgram
    model: onnx.ModelProto
    session: Session

    @property
    def operators(self) -> list[str]:
        return [node.op_type for node in self.model.graph.node]


def capture(
    model: torch.nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    *,
    strict: bool = False,
) -> ExportedProgram:
    from sardonyx._capture.patches.keywords import keywords_as_parameters

    inputs = Inputs(args, kwargs or {}).copied()
    # Releases of PyTorch differ in what dynamic_shapes are for what forward() takes in **kwargs.
    with torch.no_grad(), keywords_as_parameters(model, inputs.kwargs):
        return torch.export.export(
            model,
            inputs.args,
            dict(inputs.kwargs),
            dynamic_shapes=dynamic_shapes,
            strict=strict,
        )


def export(source: torch.nn.Module | ExportedProgram, *positional: Any, **options: Any) -> Any:
    """`sardonyx.export`, or with SARDONYX_TEST_EXPORTER=torch the exporter of PyTorch, which shows
    whether a failing test asks for more than that one gives."""
    if os.environ.get("SARDONYX_TEST_EXPORTER") == "torch":
        return torch.onnx.export(source, *positional, dynamo=True, verbose=False, **options)
    import sardonyx

    return sardonyx.export(source, *positional, **options)


def assert_exports(
    model: torch.nn.Module | ExportedProgram,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    other_inputs: Sequence[Inputs | tuple[Any, ...] | dict[str, Any]] = (),
    *,
    capture_first: bool = True,
    tolerance: Tolerance | None = None,
    reference: Callable[..., object] | None = None,
    **options: Any,
) -> Exported:
    """Exports `model` once and compares it with eager PyTorch on the example and `other_inputs`.

    With `capture_first=False` the module itself is handed over, so that the exporter captures.
    `reference` is called for the expected results where that is not the model. Other `options` go
    to the exporter. `model` and its buffers are left as they were.
    """
    example = Inputs(args, kwargs or {})
    captured: ExportedProgram | None = None
    if isinstance(model, ExportedProgram):
        captured = model
    elif capture_first:
        captured = capture(model, example.args, example.kwargs, dynamic_shapes)
    if captured is not None:
        program = export(captured, **options)
    else:
        handed = example.copied()
        program = export(
            model,
            handed.args,
            kwargs=dict(handed.kwargs),
            dynamic_shapes=dynamic_shapes,
            **options,
        )
        captured = program.exported_program
    proto = program.model_proto
    assert_wellformed(proto)
    exported = Exported(program, captured, proto, Session(proto.SerializeToString()))
    if reference is None:
        reference = model.module() if isinstance(model, ExportedProgram) else model
    for inputs in (example, *map(Inputs.of, other_inputs)):
        assert_same_answers(exported, reference, inputs, tolerance)
    return exported


def assert_same_answers(
    exported: Exported,
    reference: Callable[..., object],
    inputs: Inputs,
    tolerance: Tolerance | None = None,
) -> None:
    with torch.no_grad(), _state_kept(reference):
        eager = inputs.copied()
        results = reference(*eager.args, **eager.kwargs)
    expected = model_outputs(exported.exported_program, results)
    fed = model_inputs(exported.exported_program, inputs.args, inputs.kwargs)
    actual = exported.session.run(fed)
    names = exported.session.outputs
    assert len(actual) >= len(expected), f"{names} for {len(expected)} results"
    failures = []
    for name, got, want in zip(names, actual, expected, strict=False):
        if (differs := difference(got, want, tolerance)) is not None:
            failures.append(f"{name}: {differs}")
    sizes = [tuple(t.shape) for t in fed]
    assert not failures, f"at input sizes {sizes}\n  " + "\n  ".join(failures)


@contextmanager
def _state_kept(reference: object) -> Iterator[None]:
    """Eager runs may write to buffers; the model that was exported began with what they held."""
    if not isinstance(reference, torch.nn.Module):
        yield
        return
    kept = {name: value.clone() for name, value in reference.named_buffers()}
    try:
        yield
    finally:
        with torch.no_grad():
            for name, value in reference.named_buffers():
                if name in kept and not torch.equal(value, kept[name]):
                    value.copy_(kept[name])

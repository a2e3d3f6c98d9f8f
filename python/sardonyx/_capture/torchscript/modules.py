"""TorchScript modules and functions as modules that torch.export captures."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

import torch

from sardonyx._base.errors import CaptureError, refusal
from sardonyx._torch_private import torchscript
from sardonyx._torch_private.export import quiet_capture

from .interpreted import InterpretedModule
from .scripted import keep_readings

_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)


def as_module(
    model: torch.jit.ScriptModule | torch.jit.ScriptFunction[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> torch.nn.Module:
    """The same computation, under the same names.

    PyTorch has a converter, which makes torch.cond of branches on data. Where that does not know
    what the program does, or makes something else of the example, the module runs the program.
    """
    graph: Any = model.inlined_graph
    for node in graph.findAllNodes("prim::PythonOp", True):
        owner = getattr(node.pyobj(), "__self__", None)  # of an apply() that is called
        name = owner.__name__ if isinstance(owner, type) else node.pyname()
        raise refusal(
            "SX1003",
            f"the traced program calls the autograd.Function {name}, and does not hold "
            "what the function computes",
            "export the module itself instead of what torch.jit.trace made of it",
            CaptureError,
        )
    signature = signature_of(model)
    bound = signature.bind(None, *args, **kwargs)
    bound.apply_defaults()
    module = _converted_or_interpreted(model, bound.args[1:])
    compiled = type(module).forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        called = signature.bind(self, *args, **kwargs)
        called.apply_defaults()
        return compiled(*called.args)

    forward.__signature__ = signature  # type: ignore[attr-defined]
    type(module).forward = forward
    keep_readings(module, graph)
    return module


def declared(model: Any) -> torch.nn.Module:
    """A module that takes what the program takes, and computes nothing."""

    def forward(_self: Any, *_args: Any, **_kwargs: Any) -> None:
        raise NotImplementedError

    forward.__signature__ = signature_of(model)  # type: ignore[attr-defined]
    made: torch.nn.Module = type("TorchScript", (torch.nn.Module,), {"forward": forward})()
    return made


def _converted_or_interpreted(model: Any, given: tuple[Any, ...]) -> torch.nn.Module:
    try:
        with warnings.catch_warnings(), quiet_capture(), torch.no_grad():
            warnings.simplefilter("ignore")
            module = torchscript.converted(model, given)
            same = _is_same(module(*given), model(*given))
            # Dropout makes two runs differ.
            if same or getattr(model, "training", False):
                return module
        reason: Exception = ValueError("its answer to the example differs")
    except Exception as error:
        reason = error
    # A class for each program, whose forward() has the program's parameters.
    kind = type("TorchScript", (InterpretedModule,), {"reason": reason})
    interpreted: torch.nn.Module = kind(model)
    return interpreted


def signature_of(model: Any) -> inspect.Signature:
    """As forward() is declared, with the names that TorchScript keeps."""
    is_function = isinstance(model, torch.jit.ScriptFunction)
    declared: Any = model if is_function else model.forward
    arguments = declared.schema.arguments
    parameters = [_SELF]
    for argument in arguments if is_function else arguments[1:]:  # without `self`
        has_default = argument.has_default_value()
        default = argument.default_value if has_default else inspect.Parameter.empty
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(argument.name, kind, default=default))
    return inspect.Signature(parameters)


def _is_same(found: Any, expected: Any) -> bool:
    from sardonyx._torch_private import pytree

    pairs = pytree.tree_leaves(found), pytree.tree_leaves(expected)
    if len(pairs[0]) != len(pairs[1]):
        return False
    try:
        torch.testing.assert_close(*pairs, rtol=1e-3, atol=1e-4, equal_nan=True)
    except AssertionError:
        return False
    return True

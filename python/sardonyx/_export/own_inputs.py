"""Modules that bring their example inputs with them: `ExportableModule`, ours and torch.onnx's."""

from __future__ import annotations

from typing import Any

# What such a module has a method for, of the options of `export`.
_DESCRIBED = ("input_names", "output_names", "dynamic_shapes")


def with_own_inputs(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `export`; those that were left out as the module says them. Where inputs are
    given, the module's own, and what it says of them, do not count."""
    import torch

    model = given["model"]
    described = callable(getattr(type(model), "example_arguments", None))
    if not isinstance(model, torch.nn.Module) or not described:
        return given
    inputs = given["args"]
    if given["kwargs"] or isinstance(inputs, torch.Tensor) or len(inputs):
        return given
    describe_inputs: Any = model.example_arguments
    args, kwargs = describe_inputs()
    own = {"args": tuple(args), "kwargs": kwargs}
    for name in _DESCRIBED:
        if given[name] is None and callable(describe := getattr(model, name, None)):
            own[name] = describe()
    return {**given, **own}

"""onnxscript functions as translators: its operators add nodes to our graph."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sardonyx._base.errors import OnnxExporterError

from .building import emitter, local_functions
from .constants import constant_of
from .operators import call


class GraphEvaluator:
    """What onnxscript hands its operators to while a translator runs (its protocol Evaluator)."""

    def eval_op(self, op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A node."""
        attributes = dict(kwargs)
        outputs = attributes.pop("_outputs", None)
        version = op.opset.version if op.domain not in ("", "ai.onnx") else None
        return call(op.domain, op.name, args, attributes, outputs=outputs, version=version)

    def eval_function(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A node that calls a local function of the model."""
        if function.traceable:
            return function.function(*args, **kwargs)
        return call_function(function, *_inputs_and_attributes(function, args, kwargs))


def call_function(function: Any, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """A node that calls a local function; raises TypeError for an attribute it does not have."""
    unknown = set(attributes) - {p.name for p in function.op_signature.params if not _is_input(p)}
    if unknown:
        raise TypeError(f"{function.name} has no attributes {sorted(unknown)}")
    outputs = _keep(function)
    values = emitter().node(
        function.opset.domain,
        function.name,
        [constant_of(value) for value in inputs],
        {name: constant_of(value) for name, value in attributes.items()},
        outputs,
        function.opset.version,
        {},
    )
    return values[0] if len(values) == 1 else tuple(values)


def _is_input(parameter: Any) -> bool:
    return type(parameter).__name__ != "AttributeParameter"


@contextlib.contextmanager
def evaluating() -> Iterator[None]:
    """Within it, calling onnxscript's operators and functions adds nodes."""
    if "onnxscript" not in sys.modules:
        yield
        return
    from onnxscript import evaluator

    with evaluator.default_as(GraphEvaluator()):
        yield


def _inputs_and_attributes(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Inputs and attributes of a call, by the function's own signature."""
    parameters = list(function.op_signature.params)
    inputs: list[Any] = []
    attributes: dict[str, Any] = {}
    given = dict(kwargs)
    values = list(args)
    for parameter in parameters:
        is_input = _is_input(parameter)
        if is_input and parameter.variadic:
            inputs += values
            values = []
        elif values:
            value = values.pop(0)
            if is_input:
                inputs.append(value)
            else:
                attributes[parameter.name] = value
        elif parameter.name in given:
            value = given.pop(parameter.name)
            if is_input:
                inputs.append(value)
            else:
                attributes[parameter.name] = value
        elif is_input:
            inputs.append(None)
    if values or given:
        raise TypeError(f"{function.name} takes no further arguments: {values or sorted(given)}")
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs, attributes


def _keep(function: Any) -> int:
    """Puts the function, and those that it calls, into the model; how many outputs it has."""
    proto = function.to_function_proto()
    message = proto.SerializeToString(deterministic=True)
    key = (proto.domain, proto.name)
    known = local_functions().get(key)
    if known is None:
        for called in _called(function):
            _keep(called)
        emitter().add_function(message, function.opset.version)
        local_functions()[key] = message
    elif known != message:
        raise OnnxExporterError(
            f"two functions are called {proto.domain}::{proto.name}; give one another name or "
            "another domain"
        )
    return len(proto.output)


def _called(function: Any) -> list[Any]:
    return list(function.function_ir.get_called_functions().values())

"""Nodes of any operator, as functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sardonyx import _native

from .bodies import has_bodies, with_bodies
from .building import emitter
from .constants import Constant, constant_of


class Domain:
    """The operators of one domain, as attributes."""

    def __init__(self, name: str, version: int | None = None) -> None:
        """`version` is what the model imports; 1 where nobody says."""
        self.name = name
        self.version = version

    def __getattr__(self, op_type: str) -> Callable[..., Any]:
        if op_type.startswith("_"):
            raise AttributeError(op_type)

        def operator(
            *inputs: Any,
            _outputs: int | None = None,
            _metadata: Mapping[str, str] | None = None,
            **attributes: Any,
        ) -> Any:
            return call(
                self.name,
                op_type,
                inputs,
                attributes,
                outputs=_outputs,
                version=self.version,
                metadata=_metadata,
            )

        operator.__name__ = operator.__qualname__ = op_type
        return operator

    def __repr__(self) -> str:
        return f"Domain({self.name!r}, {self.version})"


def domain(name: str, version: int | None = None) -> Domain:
    """The operators of the domain `name`."""
    return Domain(name, version)


def call(
    domain_name: str,
    op_type: str,
    inputs: Any,
    attributes: Mapping[str, Any],
    *,
    outputs: int | None = None,
    version: int | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Any:
    """One node; its output, or a tuple of them where it has several."""
    present = emitter()
    operands = [constant_of(value) for value in inputs]
    rest = {name: constant_of(value) for name, value in attributes.items()}
    count = 1 if outputs is None else outputs
    if domain_name in ("", "ai.onnx"):
        signature = _native.signature(op_type, present.opset)
        if signature is None:
            raise AttributeError(f"opset {present.opset} of ONNX has no operator {op_type}")
        names, variadic, least, known = signature
        operands = _named_inputs(op_type, names, operands, rest)
        if not variadic and len(operands) > len(names):
            raise TypeError(f"{op_type} takes {len(names)} inputs ({', '.join(names)})")
        unknown = sorted(set(rest) - set(known))
        if unknown:
            raise TypeError(
                f"{op_type} of opset {present.opset} has no attribute {', '.join(unknown)}; it "
                f"has {', '.join(known) or 'none'}"
            )
        if op_type == "Constant":
            return _constant(present, rest)
        if has_bodies(rest):
            # Bodies ask for the types of what goes into them.
            operands = [_as_value(present, operand) for operand in operands]
            rest, count = with_bodies(present, op_type, operands, rest)
        elif outputs is None:
            count = _output_count(op_type, least, operands, rest)
    values = present.node(
        domain_name, op_type, operands, rest, count, version, dict(metadata or {})
    )
    return values[0] if len(values) == 1 and outputs is None else tuple(values)


def _as_value(present: Any, operand: Any) -> Any:
    is_literal = isinstance(operand, (bool, int, float, list, tuple, Constant))
    return present.constant(operand, None) if is_literal else operand


def _named_inputs(
    op_type: str, names: list[str], given: list[Any], rest: dict[str, Any]
) -> list[Any]:
    """Inputs that were passed by name, out of `rest` and into their places."""
    for index, name in enumerate(names):
        if name not in rest:
            continue
        if index < len(given):
            raise TypeError(f"{op_type} has its input {name!r} twice")
        given += [None] * (index - len(given))
        given.append(rest.pop(name))
    return given


def _output_count(op_type: str, least: int, inputs: list[Any], rest: Mapping[str, Any]) -> int:
    if op_type == "Split":
        if rest.get("num_outputs") is not None:
            return int(rest["num_outputs"])
        if len(inputs) > 1 and isinstance(inputs[1], (list, tuple)):
            return len(inputs[1])
        raise TypeError("Split needs _outputs where it has no num_outputs and no list of sizes")
    return max(least, 1)


def _constant(present: Any, attributes: Mapping[str, Any]) -> Any:
    # onnxscript passes all attributes, None for those that are not given.
    given = {name: value for name, value in attributes.items() if value is not None}
    if len(given) != 1:
        raise TypeError("Constant takes one of value, value_int, value_float, ...")
    ((name, value),) = given.items()
    dtype = {"value_float": 1, "value_floats": 1, "value_int": 7, "value_ints": 7}.get(name)
    return present.constant(value, dtype)

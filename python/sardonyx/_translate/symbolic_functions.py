"""Symbolic functions, the older form of translators: `symbolic(g, x, ...)` calling `g.op(...)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sardonyx import _native
from sardonyx._base.element_types import ElementNumber
from sardonyx._base.errors import OnnxExporterError, usage_error

from .scalar_types import JitScalarType
from .symbolic_graph import GraphContext, GraphValue
from .translators import Translators, bind

SymbolicFunction = Callable[..., Any]

_NAME = re.compile(r"[a-zA-Z][\w]*::[a-zA-Z_][\w.]*")

# Name to the functions registered for it, by the opset from which each holds.
_registered: dict[str, dict[int, SymbolicFunction]] = {}


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: SymbolicFunction, opset_version: int
) -> None:
    """Translates an operator by `symbolic_fn(g, *arguments)` from `opset_version` on.

    Parameters:
        symbolic_name: "domain::operator", every overload; "::operator" is one of aten.
        symbolic_fn: calls `g.op("domain::Operator", x, attribute_i=1)` and returns its result.
        opset_version: the first version of ONNX's operators that it is for.

    Raises OnnxExporterError for a name that cannot be an operator's, ValueError for one of onnx's,
    UsageError for what is no function or no version.
    """
    if not callable(symbolic_fn):
        raise usage_error(f"symbolic_fn={symbolic_fn!r} is no function")
    if not isinstance(opset_version, int):
        raise usage_error(f"opset_version={opset_version!r} is no version")
    _registered.setdefault(_checked(symbolic_name), {})[opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Takes back what `register_custom_op_symbolic` registered for the two."""
    name = _checked(symbolic_name)
    versions = _registered.get(name, {})
    versions.pop(opset_version, None)
    if not versions:
        _registered.pop(name, None)


def _checked(name: str) -> str:
    name = f"aten{name}" if name.startswith("::") else name
    if not _NAME.fullmatch(name):
        raise OnnxExporterError(
            f"Failed to register operator {name}. The symbolic name must match the format "
            "domain::name, and should start with a letter and contain only alphanumerical "
            "characters"
        )
    if name.split("::")[0] == "onnx":
        raise ValueError(f"Failed to register operator {name}. onnx domain cannot be modified.")
    return name


def registered_for(name: str, opset: int) -> SymbolicFunction | None:
    """The function for an operator, from the newest registration not above the opset."""
    versions = _registered.get(name, {})
    fitting = [version for version in versions if version <= opset]
    return versions[max(fitting)] if fitting else None


def change_above(opset: int) -> bool:
    """Whether another function than at this opset is registered for any newer one."""
    return any(version > opset for versions in _registered.values() for version in versions)


def add_registered(translators: Translators, opset: int) -> None:
    """Adds what is registered for this opset."""
    for name in _registered:
        function = registered_for(name, opset)
        if function is not None:
            translators.add_native(name, symbolic_translator(function))


def symbolic_translator(function: SymbolicFunction) -> _native.Translator:
    """A translator that calls a symbolic function."""

    def translate(
        emitter: _native.Emitter,
        op: str,
        arguments: list[_native.Argument],
        outputs: list[_native.Output],
    ) -> Any:
        # Symbolic functions know no keyword-only parameters.
        positional = [(name, value, False, *rest) for name, value, _, *rest in arguments]
        context = GraphContext(emitter, op, outputs)
        args, named = bind(_without_context(function), op, [_argument(a) for a in positional])
        result = function(context, *args, **named)
        if result is None:
            raise OnnxExporterError(f"the symbolic function of {op} returned None")
        return result

    return translate


def _argument(argument: Any) -> Any:
    name, value, *rest = argument
    return (name, _wrapped(value), *rest)


def _wrapped(value: Any) -> Any:
    """As symbolic functions are given it: element types by the numbers that TorchScript has."""
    if isinstance(value, _native.Value):
        return GraphValue(value)
    if isinstance(value, ElementNumber):
        return JitScalarType.from_onnx_type(value)
    return [_wrapped(item) for item in value] if isinstance(value, list) else value


def _without_context(function: SymbolicFunction) -> Callable[..., Any]:
    """Something with the signature of `function` but for the graph that comes first."""
    import inspect

    def stand_in(*_args: Any, **_kwargs: Any) -> None: ...

    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].kind != inspect.Parameter.VAR_POSITIONAL:
        parameters = parameters[1:]
    # inspect reads the attribute, though functions do not declare it.
    stand_in.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return stand_in

"""Symbolic functions, the older form of translators: `symbolic(g, x, ...)` calling `g.op(...)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._constants import constant_of
from ._element_types import onnx_number, torch_dtypes
from ._errors import OnnxExporterError, usage_error

if TYPE_CHECKING:
    from . import _native
    from ._translators import Translators

SymbolicFunction = Callable[..., Any]

_NAME = re.compile(r"[a-zA-Z][\w]*::[a-zA-Z_][\w.]*")
_ATTRIBUTE = re.compile(r"(.+)_([ifst])")

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
        from ._translators import bind

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
    from . import _native

    if isinstance(value, _native.Value):
        return GraphValue(value)
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


@dataclass(frozen=True)
class GraphType:
    """What is known of a value's type, as symbolic functions ask for it."""

    number: int
    shape: Sequence[int | str | None] | None

    def scalarType(self) -> str | None:  # noqa: N802 (the name it has in torch._C)
        """ "Float", "Long", ...; None where it is not known."""
        from .symbolic_helper import JitScalarType

        if self.number not in torch_dtypes():
            return None
        return JitScalarType.from_dtype(torch_dtypes()[self.number]).scalar_name()

    def dtype(self) -> Any:
        """The torch.dtype; None where it is not known."""
        return torch_dtypes().get(self.number)

    def sizes(self) -> list[int | None] | None:
        """Each size, None where it is not constant; None where the rank is not known."""
        if self.shape is None:
            return None
        return [size if isinstance(size, int) else None for size in self.shape]

    def dim(self) -> int | None:
        """The rank; None where it is not known."""
        return None if self.shape is None else len(self.shape)

    def with_dtype(self, dtype: Any) -> GraphType:
        """The same of another element type."""
        return GraphType(onnx_number(dtype), self.shape)

    def with_sizes(self, sizes: Sequence[int | None] | None) -> GraphType:
        """The same of another shape."""
        return GraphType(self.number, sizes)


class GraphValue:
    """A value of the graph with the methods that symbolic functions call on it."""

    def __init__(self, native: _native.Value) -> None:
        """Of a value of the native library."""
        self.native = native

    def type(self) -> GraphType:
        """Its type, as far as it is known."""
        return GraphType(self.native.dtype, self.native.shape)

    def setType(self, wanted: GraphType) -> GraphValue:  # noqa: N802 (as above)
        """Declares its type; returns the value."""
        self.native.set_type(wanted.number or None, wanted.shape)
        return self

    def setTypeAs(self, other: GraphValue) -> GraphValue:  # noqa: N802 (as above)
        """Declares the type of another value; returns the value."""
        return self.setType(other.type())

    def isCompleteTensor(self) -> bool:  # noqa: N802 (as above)
        """Whether element type and every size are known."""
        sizes = self.type().sizes()
        return self.native.dtype != 0 and sizes is not None and None not in sizes

    def debugName(self) -> str:  # noqa: N802 (as above)
        """Its name in the graph."""
        return self.native.name

    def __repr__(self) -> str:
        return repr(self.native)


class GraphContext:
    """The graph that a symbolic function writes into."""

    def __init__(
        self, emitter: _native.Emitter, op: str, outputs: Sequence[_native.Output]
    ) -> None:
        """For one call of an operator."""
        self.opset = emitter.opset
        self.operator = op
        self.captured_outputs = outputs
        self._emitter = emitter

    def op(self, opname: str, *raw_args: Any, outputs: int = 1, **kwargs: Any) -> Any:
        """One node. `opname` is "domain::Operator", or one of ONNX's own without a domain.

        Attributes end in the letter of their type: `alpha_f=1.0`, `axes_i=[0, 1]`, `mode_s="x"`,
        `value_t=torch.tensor(0)`. ValueError for other endings.
        """
        domain, _, op_type = opname.rpartition("::")
        domain = "" if domain in ("onnx", "aionnx", "ai.onnx") else domain
        attributes = _attributes(kwargs)
        inputs = [self._input(value) for value in raw_args]
        if not domain and op_type == "Constant" and not inputs:
            return GraphValue(self._emitter.constant(next(iter(attributes.values())), None))
        values = self._emitter.node(domain, op_type, inputs, attributes, outputs, None, {})
        wrapped = tuple(GraphValue(value) for value in values)
        return wrapped[0] if outputs == 1 else wrapped

    def at(self, operator: str, *args: Any, overload_name: str = "", **kwargs: Any) -> Any:
        """The node org.pytorch.aten::ATen that stands for an operator of ATen."""
        named = {"operator_s": operator, "overload_name_s": overload_name, **kwargs}
        return self.op("org.pytorch.aten::ATen", *args, **named)

    def onnxscript_op(self, onnx_fn: Any, *raw_args: Any, outputs: int = 1, **kwargs: Any) -> Any:
        """A node that calls an onnxscript function, which the model keeps as a local function."""
        from ._script import GraphEvaluator

        del outputs  # the function knows
        inputs = [self._input(value) for value in raw_args]
        result = GraphEvaluator().eval_function(onnx_fn, inputs, _attributes(kwargs))
        if isinstance(result, tuple):
            return tuple(GraphValue(value) for value in result)
        return GraphValue(result)

    @staticmethod
    def _input(value: Any) -> Any:
        return value.native if isinstance(value, GraphValue) else constant_of(value)


def _attributes(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes by name, without the letter of their type."""
    convert: dict[str, Callable[[Any], Any]] = {"i": int, "f": float, "s": str, "t": constant_of}
    attributes: dict[str, Any] = {}
    for key, value in kwargs.items():
        match = _ATTRIBUTE.fullmatch(key)
        if match is None:
            raise ValueError(
                f"Invalid attribute specifier '{key}': names must be suffixed with type, e.g. "
                "'dim_i' or 'dims_i'"
            )
        name, kind = match.groups()
        if value is None:
            continue
        is_list = isinstance(value, (list, tuple))
        attributes[name] = (
            [convert[kind](item) for item in value] if is_list else convert[kind](value)
        )
    return attributes

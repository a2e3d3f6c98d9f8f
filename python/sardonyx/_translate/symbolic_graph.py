"""The graph as symbolic functions see it: `g.op(...)`, and values that know their types."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sardonyx import _native
from sardonyx._base.element_types import onnx_number, torch_dtypes
from sardonyx._torch_private.torchscript import class_of_graph

from .constants import constant_of
from .scalar_types import JitScalarType
from .script import GraphEvaluator, call_function

_ATTRIBUTE = re.compile(r"(.+)_([ifst])")


@dataclass(frozen=True)
class GraphType:
    """What is known of a value's type, as symbolic functions ask for it."""

    number: int
    shape: Sequence[int | str | None] | None

    def scalarType(self) -> str | None:  # noqa: N802 (the name it has in torch._C)
        """ "Float", "Long", ...; None where it is not known."""
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

    def varyingSizes(self) -> list[int | None] | None:  # noqa: N802 (as above)
        """The same as sizes()."""
        return self.sizes()

    def kind(self) -> str:
        """ "TensorType": the graph has no values of other kinds."""
        return "TensorType"

    def isSubtypeOf(self, other: Any) -> bool:  # noqa: N802 (as above)
        """Whether a type of torch._C is one of tensors."""
        return bool(other.kind() == self.kind())

    def with_dtype(self, dtype: Any) -> GraphType:
        """The same of another element type."""
        return GraphType(onnx_number(dtype), self.shape)

    def with_sizes(self, sizes: Sequence[int | None] | None) -> GraphType:
        """The same of another shape."""
        return GraphType(self.number, sizes)


class _SeenByTorch:
    """Of a class of torch._C for isinstance(): torch.onnx's own symbolic functions, which those of
    users call, look whether they are given values of a graph."""

    _torch_name: str

    @property
    def __class__(self) -> type:
        # Who asks before torch is imported has no class of it.
        return class_of_graph(self._torch_name) if "torch" in sys.modules else type(self)

    @__class__.setter
    def __class__(self, _: type) -> None:
        raise TypeError("a value of the graph stays one")


class GraphValue(_SeenByTorch):
    """A value of the graph with the methods that symbolic functions call on it."""

    _torch_name = "Value"

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

    def node(self) -> GraphNode:
        """What it comes of."""
        return GraphNode(self)

    def debugName(self) -> str:  # noqa: N802 (as above)
        """Its name in the graph."""
        return self.native.name

    def __repr__(self) -> str:
        return repr(self.native)


class GraphNode(_SeenByTorch):
    """What a value comes of, as symbolic functions look at it: a node of the graph, a constant, or
    an input of the model (`prim::Param`)."""

    _torch_name = "Node"

    def __init__(self, value: GraphValue) -> None:
        """Of one of its values."""
        kind = "Constant" if value.native.is_constant else "prim::Param"
        of_value: tuple[str, str, list[Any], list[Any], dict[str, Any]] = (
            "",
            kind,
            [],
            [value.native],
            {},
        )
        self._value = value
        domain, op_type, inputs, outputs, attributes = value.native.producer or of_value
        self._kind = op_type if "::" in op_type else f"{domain or 'onnx'}::{op_type}"
        self._inputs = [None if each is None else GraphValue(each) for each in inputs]
        self._outputs = [None if each is None else GraphValue(each) for each in outputs]
        self._attributes: dict[str, Any] = attributes
        if self._kind == "onnx::Constant":
            self._attributes = {"value": tensor_of(value)}

    def kind(self) -> str:
        """ "onnx::Add", or with another domain in front."""
        return self._kind

    def inputs(self) -> list[GraphValue | None]:
        """What it takes; None where nothing is given."""
        return self._inputs

    def outputs(self) -> list[GraphValue | None]:
        """What it gives."""
        return self._outputs

    def output(self) -> GraphValue:
        """The value that it was asked of."""
        return self._value

    def mustBeNone(self) -> bool:  # noqa: N802 (as above)
        """False: what is None in the program comes as Python's own None."""
        return False

    def attributeNames(self) -> list[str]:  # noqa: N802 (as above)
        """The names of its attributes, without the letters of their types."""
        return list(self._attributes)

    def hasAttribute(self, name: str) -> bool:  # noqa: N802 (as above)
        """Whether it has an attribute of that name."""
        return name in self._attributes

    def kindOf(self, name: str) -> str:  # noqa: N802 (as above)
        """The letter of an attribute's type, for lists with an "s" behind it."""
        value = self._attributes[name]
        if isinstance(value, (list, tuple)):
            return f"{_letter(value[0]) if value else 'i'}s"
        return _letter(value)

    def sourceRange(self) -> str:  # noqa: N802 (as above)
        """Empty: the diagnostic around has the line of the user's code."""
        return ""

    def __getitem__(self, name: str) -> Any:
        return self._attributes[name]

    # An attribute by the letter of its type, which it has to know itself.
    i = f = s = t = is_ = fs = ss = __getitem__


def _letter(value: Any) -> str:
    letters = {int: "i", bool: "i", float: "f", str: "s", bytes: "s"}
    return letters.get(type(value), "t")


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
        if not domain and op_type == "Split" and len(raw_args) == 1 and not attributes.get("split"):
            attributes.setdefault("num_outputs", outputs)  # which Split says itself since opset 18
        if not domain and op_type in _OF_ONE_TYPE:
            raw_args = _of_one_type(raw_args)
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

    aten_op = at

    def onnxscript_op(self, onnx_fn: Any, *raw_args: Any, outputs: int = 1, **kwargs: Any) -> Any:
        """A node that calls an onnxscript function, which the model keeps as a local function.

        Positional arguments are its inputs, wherever its signature has attributes.
        """
        del outputs  # the function knows
        inputs = [self._input(value) for value in raw_args]
        attributes = _attributes(kwargs)
        if onnx_fn.traceable:
            result = GraphEvaluator().eval_function(onnx_fn, inputs, attributes)
        else:
            result = call_function(onnx_fn, inputs, attributes)
        if isinstance(result, tuple):
            return tuple(GraphValue(value) for value in result)
        return GraphValue(result)

    @staticmethod
    def _input(value: Any) -> Any:
        return value.native if isinstance(value, GraphValue) else constant_of(value)


# Operators of inputs that are all of one type.
_OF_ONE_TYPE = frozenset({"Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Greater", "Equal"})


def _of_one_type(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Known numbers take the type of the tensors that they are computed with, as torch.onnx has it:
    `alpha` of a sum is an integer in PyTorch."""
    numbers = [_number(each) for each in args]
    types = {
        each.type().dtype()
        for each, number in zip(args, numbers, strict=True)
        if number is None and isinstance(each, GraphValue)
    }
    wanted = types.pop() if len(types) == 1 else None
    if wanted is None or any(
        each is not None and each.is_floating_point() and not wanted.is_floating_point
        for each in numbers
    ):
        return args
    return tuple(
        each if number is None or number.dtype == wanted else number.to(wanted)
        for each, number in zip(args, numbers, strict=True)
    )


def _number(value: Any) -> Any:
    """The torch.Tensor of no dimension that a value is known to be; None of others."""
    import torch

    if isinstance(value, GraphValue):
        is_one = value.native.is_constant and value.type().dim() == 0
        return tensor_of(value) if is_one else None
    return value if isinstance(value, torch.Tensor) and value.dim() == 0 else None


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


def tensor_of(value: GraphValue) -> Any:
    """The torch.Tensor that a constant holds; None where its data is not read yet."""
    import torch

    elements = value.native.elements
    if elements is None:
        return None
    sizes = [-1 if size is None else size for size in value.type().sizes() or []]
    return torch.tensor(elements, dtype=value.type().dtype()).reshape(sizes)

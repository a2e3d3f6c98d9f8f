"""What symbolic functions ask of their arguments, as torch.onnx.symbolic_helper has it asked."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from sardonyx._base.errors import OnnxExporterError, OnnxExporterWarning

from .scalar_types import JitScalarType
from .symbolic_arguments import is_known, parsed
from .symbolic_graph import GraphValue


def is_value(x: Any) -> bool:
    """Whether it is a value of the graph, rather than what is known without one."""
    return isinstance(x, GraphValue)


def is_constant(value: Any) -> bool:
    """Whether it is known at export."""
    return not is_value(value) or is_known(value)


def is_none(x: Any) -> bool:
    """Whether the argument was left out."""
    return x is None


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor of the graph."""
    return is_value(x)


def is_packed_list(x: Any) -> bool:
    """Whether it is a list of values."""
    return isinstance(x, (list, tuple))


def is_tensor_list(x: Any) -> bool:
    """Whether it is a list of tensors of the graph."""
    return is_packed_list(x) and all(is_value(item) for item in x)


def is_bool(value: Any) -> bool:
    """Whether it is a bool, or a tensor of them."""
    return _type_of(value) == JitScalarType.BOOL


def is_fp(value: Any) -> bool:
    """Whether it is a floating-point number, or a tensor of them."""
    dtype = getattr(_type_of(value), "dtype", None)
    return isinstance(value, float) or (dtype is not None and dtype().is_floating_point)


def is_complex(x: Any) -> bool:
    """Whether it is a complex number, or a tensor of them."""
    dtype = getattr(_type_of(x), "dtype", None)
    return isinstance(x, complex) or (dtype is not None and dtype().is_complex)


def is_scalar_list(x: Any) -> bool:
    """Whether it is a list of numbers."""
    return is_packed_list(x) and all(isinstance(item, (bool, int, float, complex)) for item in x)


def scalar(x: Any) -> Any:
    """The number that a known tensor of one element holds, or a number; None for anything else."""
    if isinstance(x, (bool, int, float, complex)):
        return x
    found = x.item() if hasattr(x, "numel") and x.numel() == 1 else maybe_get_scalar(x)
    return None if is_value(found) or not isinstance(found, (bool, int, float)) else found


def unpack_tuple(tuple_value: Any) -> tuple[Any, ...]:
    """The values of a tuple."""
    return tuple(tuple_value)


def _type_of(value: Any) -> JitScalarType | None:
    if isinstance(value, bool):
        return JitScalarType.BOOL
    if not is_value(value) or value.type().dtype() is None:
        return None
    return JitScalarType.from_value(value)


def unpack_list(list_value: Any) -> list[Any]:
    """The values of a list."""
    return list(list_value)


def get_const(value: Any, desc: str, arg_name: str) -> Any:
    """An argument that has to be known, as parse_args's descriptor `desc` has it. Raises
    OnnxExporterError where the model computes it."""
    return parsed(desc, value, f"argument '{arg_name}' of the symbolic function")


def maybe_get_const(value: Any, descriptor: str) -> Any:
    """The same where it is known; the value of the graph where it is not."""
    return get_const(value, descriptor, "") if is_constant(value) else value


def maybe_get_scalar(value: Any) -> Any:
    """The number that a known tensor of one element holds; anything else as it is."""
    known = value.native.elements if is_value(value) else None
    return known[0] if known is not None and value.type().dim() == 0 else value


def parse_arg(
    value: Any, desc: str, arg_name: str | None = None, node_name: str | None = None
) -> Any:
    """An argument as parse_args's descriptor `desc` has it."""
    return parsed(desc, value, f"argument '{arg_name}' of {node_name or 'the symbolic function'}")


def get_tensor_sizes(x: Any, allow_nonstatic: bool = True) -> list[int | None] | None:
    """Each size, None where it varies; None where the rank is not known, or where one varies and
    that is not allowed."""
    sizes = x.type().sizes() if is_value(x) else None
    return None if sizes is None or (None in sizes and not allow_nonstatic) else sizes


def get_tensor_rank(x: Any) -> int | None:
    """The rank; None where it is not known."""
    return x.type().dim() if is_value(x) else None


def get_tensor_dim_size(x: Any, dim: int) -> int | None:
    """One size; None where it varies."""
    sizes = get_tensor_sizes(x)
    return sizes[dim] if sizes is not None else None


def try_get_scalar_type(*args: Any) -> JitScalarType | None:
    """The element type of the first argument that has one."""
    for arg in args:
        if is_value(arg) and arg.type().dtype() is not None:
            return JitScalarType.from_value(arg)
    return None


def args_have_same_dtype(args: Sequence[Any]) -> bool:
    """Whether all have one element type."""
    return len({JitScalarType.from_value(arg) for arg in args}) <= 1


def promoted_type(*args: Any) -> JitScalarType:
    """The element type that PyTorch computes with of values of these. ValueError where none has
    one."""
    import torch

    dtypes = [
        arg.type().dtype() for arg in args if is_value(arg) and arg.type().dtype() is not None
    ]
    if not dtypes:
        raise ValueError("no argument has an element type that is known")
    return JitScalarType.from_dtype(functools.reduce(torch.promote_types, dtypes))


def axis_for_cross(x: Any, dim: int | None) -> int | None:
    """The axis of torch.cross: where none is given, the first of size 3."""
    rank = get_tensor_rank(x)
    if dim is not None and dim >= 0:
        return dim
    if rank is None:
        onnx_unsupported("cross of a tensor whose rank is not known", x)
    if dim is not None:
        return dim + rank
    return next((axis for axis in range(rank) if get_tensor_dim_size(x, axis) == 3), None)


def is_split_known(split_size_or_sizes: Any, _outputs: int | None) -> bool:
    """Whether it is known at export how many parts a split has."""
    return _outputs is not None and is_constant(split_size_or_sizes)


def check_training_mode(op_train_mode: int, op_name: str) -> None:
    """Warns of an operator that is in training mode, which the model keeps."""
    if op_train_mode:
        warnings.warn(
            f"operator '{op_name}' is in training mode, and the model keeps it so",
            OnnxExporterWarning,
            stacklevel=2,
        )


def unimplemented(op: str, msg: str, value: Any = None) -> NoReturn:
    """Says that a form of an operator is not translated. Raises OnnxExporterError."""
    onnx_unsupported(f"{op}, {msg}", value)


def onnx_unsupported(op_name: str, value: Any = None) -> NoReturn:
    """Says that an operator is not translated. Raises OnnxExporterError."""
    where = "" if value is None else f" (of {value!r})"
    raise OnnxExporterError(f"Unsupported: ONNX export of operator {op_name}{where}.")


def onnx_opset_unsupported(
    op_name: str, current_opset: int, supported_opset: int, value: Any = None
) -> NoReturn:
    """Says which opset translates an operator. Raises OnnxExporterError."""
    onnx_opset_unsupported_detailed(op_name, current_opset, supported_opset, "", value)


def onnx_opset_unsupported_detailed(
    op_name: str, current_opset: int, supported_opset: int, reason: str, value: Any = None
) -> NoReturn:
    """The same with a reason. Raises OnnxExporterError."""
    onnx_unsupported(
        f"{op_name} in opset {current_opset}{'. ' + reason if reason else ''}; "
        f"try opset version {supported_opset}",
        value,
    )


def block_list_in_opset(name: str) -> Callable[..., NoReturn]:
    """A symbolic function that says that there is none for this opset."""

    def symbolic_fn(g: Any, *_args: Any, **_kwargs: Any) -> NoReturn:
        onnx_unsupported(f"{name} in opset {g.opset}")

    return symbolic_fn


def quantized_args(
    *arg_q_descriptors: bool,
    scale: float | None = None,
    zero_point: int | None = None,
    quantize_output: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Says which arguments of a symbolic function may be quantized. They come dequantized: captured
    programs hold DequantizeLinear and QuantizeLinear around what computes in between."""
    del arg_q_descriptors, scale, zero_point, quantize_output
    return lambda function: function

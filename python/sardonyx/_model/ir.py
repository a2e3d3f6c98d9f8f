"""Between a native model and an onnx_ir.Model that shares its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.errors import OnnxExporterError
from sardonyx._base.packages import package

if TYPE_CHECKING:
    import onnx_ir


# What stands behind an initializer: the tensor object that was handed out, to the constant's name.
Shared = dict[int, tuple[Any, str]]


def to_ir(model: _native.Model) -> tuple[onnx_ir.Model, Shared]:
    """An onnx_ir.Model over the same weights, and which of its tensors are the model's own."""
    onnx, onnx_ir = package("onnx", "ONNXProgram.model"), package("onnx_ir", "ONNXProgram.model")
    # Without weights, so that protobuf copies none; they are inputs in it.
    bare = onnx.load_model_from_string(
        _native.serialize(model, include_initializers=False, keep_initializers_as_inputs=True)
    )
    result = onnx_ir.serde.deserialize_model(bare)
    shared: Shared = {}
    inputs = {value.name: value for value in result.graph.inputs}
    own = {name for name, _, _ in model.inputs}
    for name, dtype, dims, _, is_weight, in_memory in _native.constants(model):
        if not is_weight:
            # Constants that conversion made are in the message.
            if name in result.graph.initializers:
                shared_tensor = result.graph.initializers[name].const_value
                shared[id(shared_tensor)] = (shared_tensor, name)
            continue
        if name not in inputs or name in own:
            continue
        value = inputs[name]
        tensor = tensor_of(model, name, dtype, dims, in_memory)
        shared[id(tensor)] = (tensor, name)
        result.graph.inputs.remove(value)
        value.const_value = tensor
        result.graph.register_initializer(value)
    return result, shared


def tensor_of(
    model: _native.Model, name: str, dtype: int, dims: list[int], in_memory: bool
) -> onnx_ir.TensorProtocol:
    """A constant of the model as onnx_ir has tensors, over the same memory. What does not lie in
    memory as it is (weights without data, scaled ones) is made when somebody asks."""
    import onnx_ir

    kind, shape = onnx_ir.DataType(dtype), onnx_ir.Shape(dims)
    if in_memory:
        return _over(model, name, kind, shape)
    return onnx_ir.LazyTensor(lambda: _over(model, name, kind, shape), kind, shape, name=name)


def _over(
    model: _native.Model, name: str, kind: onnx_ir.DataType, shape: onnx_ir.Shape
) -> onnx_ir.TensorProtocol:
    import numpy as np
    import onnx_ir

    array = _native.constant_array(model, name)
    if array is None:
        if shape.numpy() and 0 in shape.numpy():
            return onnx_ir.Tensor(np.empty(shape.numpy(), kind.numpy()), kind, name=name)
        raise OnnxExporterError(f"the weight '{name}' has no data yet: apply_weights() supplies it")
    if kind.bitwidth < 8:
        return onnx_ir.PackedTensor(array, kind, shape=shape, name=name)
    return onnx_ir.Tensor(array, kind, shape=shape, name=name)


def from_ir(ir_model: onnx_ir.Model, source: _native.Model | None, shared: Shared) -> _native.Model:
    """The native model of an onnx_ir.Model as it is now. Weights that were shared still are."""
    import onnx_ir

    graph = ir_model.graph
    initializers = dict(graph.initializers)
    inputs = list(graph.inputs)
    # An initializer that is listed as an input is one that callers may override.
    listed = {id(value) for value in inputs}
    # These, and strings, go with the message; all others are attached where they lie.
    inside = {
        name: value
        for name, value in initializers.items()
        if id(value) in listed or _holds_strings(value)
    }
    try:
        graph.initializers.clear()
        graph.initializers.update(inside)
        graph.inputs.extend(value for value in initializers.values() if value.name not in inside)
        bare = onnx_ir.serde.serialize_model(ir_model).SerializeToString()
    finally:
        graph.inputs.clear()
        graph.inputs.extend(inputs)
        graph.initializers.clear()
        graph.initializers.update(initializers)
    result = _native.parse_model(bare)
    same, given = _origins(
        {name: value for name, value in initializers.items() if name not in inside}, source, shared
    )
    _native.attach(result, source or result, same, given)
    return result


def _origins(
    initializers: Mapping[str, Any], source: _native.Model | None, shared: Shared
) -> tuple[list[tuple[str, str]], list[tuple[str, int, list[int], Any]]]:
    same: list[tuple[str, str]] = []
    given: list[tuple[str, int, list[int], Any]] = []
    for name, value in initializers.items():
        tensor = value.const_value
        known = shared.get(id(tensor)) if source is not None else None
        if known is not None and known[0] is tensor:
            same.append((name, known[1]))
        elif tensor is None:
            given.append((name, int(value.dtype or 0), _sizes(value.shape), None))
        else:
            given.append((name, int(tensor.dtype), _sizes(tensor.shape), _bytes(tensor)))
    return same, given


def _sizes(shape: Any) -> list[int]:
    return [int(dim) for dim in shape or ()]


def _holds_strings(value: Any) -> bool:
    import onnx_ir

    tensor = value.const_value
    return tensor is not None and tensor.dtype == onnx_ir.DataType.STRING


def _bytes(tensor: Any) -> Any:
    """A tensor's elements as a flat array of bytes, in its own memory where that can be."""
    import numpy as np

    if tensor.dtype.bitwidth < 8:
        return np.frombuffer(tensor.tobytes(), dtype=np.uint8)
    return np.ascontiguousarray(tensor.numpy()).reshape(-1).view(np.uint8)

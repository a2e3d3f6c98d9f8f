"""Between an onnx.ModelProto and a native model: each tensor is copied once on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.packages import package

if TYPE_CHECKING:
    import onnx

# In elements; smaller tensors stay in the message.
_LARGE = 1024


def from_proto(proto: onnx.ModelProto) -> _native.Model:
    """The native model. Models above protobuf's 2 GB are as good as any, the data being apart."""
    import onnx

    bare, given = onnx.ModelProto(), dict[str, bytes]()
    for field, value in proto.ListFields():
        if field.name != "graph":
            _copy(bare, field, value)
    bare.graph.SetInParent()
    for field, value in proto.graph.ListFields():
        if field.name != "initializer":
            _copy(bare.graph, field, value)
    for position, tensor in enumerate(proto.graph.initializer):
        _add_initializer(bare.graph, tensor, f"tensor {position}", given)
    return _native.parse_apart(bare.SerializeToString(), given)


def to_proto(model: _native.Model) -> onnx.ModelProto:
    """The model with its weights in it."""
    onnx = package("onnx", "a ModelProto")
    apart = _native.serialize_apart(model)
    proto = onnx.load_model_from_string(apart.message)
    for tensor in proto.graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        places = {entry.key: entry.value for entry in tensor.external_data}
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.raw_data = apart.tensor(int(places["offset"]))
    return proto


def _copy(target: Any, field: Any, value: Any) -> None:
    if hasattr(value, "extend") or hasattr(value, "MergeFrom"):
        getattr(target, field.name).MergeFrom(value)
    else:
        setattr(target, field.name, value)


def _add_initializer(
    graph: onnx.GraphProto, tensor: onnx.TensorProto, location: str, given: dict[str, bytes]
) -> None:
    from math import prod

    from onnx import TensorProto

    if prod(tensor.dims) < _LARGE or not tensor.HasField("raw_data"):
        graph.initializer.add().CopyFrom(tensor)
        return
    bare = graph.initializer.add()
    for field, value in tensor.ListFields():
        if field.name != "raw_data":
            _copy(bare, field, value)
    bare.data_location = TensorProto.EXTERNAL
    bare.external_data.add(key="location", value=location)
    given[location] = tensor.raw_data

// Views and reshapes: the same elements under another shape.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// view, reshape, flatten, unflatten, ...: the captured result says the shape, -1 resolved.
Outputs reshape(const Call& call, Emit& onnx) {
  return {onnx.reshape(call.tensor("self"), call.result_shape())};
}

Outputs expand(const Call& call, Emit& onnx) {
  return {onnx.expand(call.tensor("self"), call.result_shape())};
}

Outputs transpose(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self};
  return {onnx.swap_axes(self, call.integer("dim0"), call.integer("dim1"))};
}

Outputs transpose_2d(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {self.rank() < 2 ? self : onnx.swap_axes(self, 0, 1)};
}

Outputs permute(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {onnx.transpose(self, call.axes("dims", self.rank()))};
}

Outputs unsqueeze(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {onnx.unsqueeze(self, {call.axis("dim", self.rank() + 1)})};
}

// Drops the axes of size 1 among these; one whose size the capture did not know stays, as it has
// decided, also where it is known here: of a constant's elements that are not 0, say.
Value squeezed(const Call& call, Emit& onnx, const std::vector<std::int64_t>& axes) {
  const Value self = call.tensor("self");
  const program::Value* captured = program::tensor_of(call.captured().argument("self"));
  std::vector<std::int64_t> drop;
  for (const std::int64_t axis : axes) {
    if (axis >= self.rank()) continue;
    const Expr size = captured ? captured->shape[static_cast<std::size_t>(axis)] : self.dim(axis);
    if (size.is(1)) drop.push_back(axis);
  }
  return drop.empty() ? self : onnx.squeeze(self, drop);
}

Outputs squeeze(const Call& call, Emit& onnx) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < call.tensor("self").rank(); ++axis) axes.push_back(axis);
  return {squeezed(call, onnx, axes)};
}

Outputs squeeze_axes(const Call& call, Emit& onnx) {
  return {squeezed(call, onnx, call.axes("dim", call.tensor("self").rank()))};
}

// A list of tensors, each by itself.
Outputs reshape_each(const Call& call, Emit& onnx) {
  Outputs outputs = call.tensors("tensors");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (call.uses_output(i)) outputs[i] = onnx.reshape(outputs[i], call.result_shape(i));
  }
  return outputs;
}

constexpr Row kRows[] = {
    {"aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", reshape},
    {"aten::_reshape_copy(Tensor self, SymInt[] size) -> Tensor", reshape},
    {"aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", reshape},
    {"aten::atleast_1d(Tensor self) -> Tensor", reshape},
    {"aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", reshape_each},
    {"aten::atleast_2d(Tensor self) -> Tensor", reshape},
    {"aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", reshape_each},
    {"aten::atleast_3d(Tensor self) -> Tensor", reshape},
    {"aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", reshape_each},
    {"aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", expand},
    {"aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", expand},
    {"aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", expand},
    {"aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor", expand},
    {"aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
     reshape},
    {"aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", permute},
    {"aten::permute_copy(Tensor self, int[] dims) -> Tensor", permute},
    {"aten::ravel(Tensor(a) self) -> Tensor(a)", reshape},
    {"aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", reshape},
    {"aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", reshape},
    {"aten::squeeze(Tensor(a) self) -> Tensor(a)", squeeze},
    {"aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeeze_axes},
    {"aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeeze_axes},
    {"aten::squeeze_copy(Tensor self) -> Tensor", squeeze},
    {"aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor", squeeze_axes},
    {"aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", squeeze_axes},
    {"aten::t(Tensor(a) self) -> Tensor(a)", transpose_2d},
    {"aten::t_copy(Tensor self) -> Tensor", transpose_2d},
    {"aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose},
    {"aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", transpose},
    {"aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", reshape},
    {"aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueeze},
    {"aten::unsqueeze_copy(Tensor self, int dim) -> Tensor", unsqueeze},
    {"aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", reshape},
    {"aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", reshape},
    {"aten::view_copy(Tensor self, SymInt[] size) -> Tensor", reshape},
};

}  // namespace

std::span<const Row> shape_rows() { return kRows; }

}  // namespace sardonyx::aten

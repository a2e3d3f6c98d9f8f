// Elements by their place in the flattened tensor, or along one axis: take, put, take_along_dim;
// quarter turns.
#include <algorithm>
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/indexing/index_plan.h"

namespace sardonyx::aten {
namespace {

// Gather takes negative indices as PyTorch does.
Outputs take(const Call& call, Emit& onnx) {
  const Value index = onnx.cast(call.tensor("index"), DType::kInt64);
  return {onnx.gather(onnx.flatten_to_1d(call.tensor("self")), index)};
}

// ScatterElements adds from opset 16 on; bools count as truth, and ONNX Runtime adds no half types.
Outputs put(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value index = onnx.flatten_to_1d(onnx.cast(call.tensor("index"), DType::kInt64));
  const Value source = onnx.flatten_to_1d(call.tensor("source"));
  const Value flat = onnx.flatten_to_1d(self);
  if (!call.flag("accumulate")) {
    return {onnx.reshape(onnx.scatter_elements(flat, index, source, {.axis = 0}), self.shape())};
  }
  const bool truth = self.dtype() == DType::kBool;
  const DType dtype = truth ? DType::kInt32 : computing_type(self.dtype());
  const Value sum = onnx.scatter_elements(onnx.cast(flat, dtype), index, onnx.cast(source, dtype),
                                          {.axis = 0, .reduction = "add"});
  return {onnx.reshape(onnx.cast(sum, self.dtype()), self.shape())};
}

// Both broadcast over every axis but one; GatherElements does not.
Outputs take_along_dim(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value indices = onnx.cast(call.tensor("indices"), DType::kInt64);
  if (!call.has("dim")) {
    return {
        onnx.gather_elements(onnx.flatten_to_1d(self), onnx.flatten_to_1d(indices), {.axis = 0})};
  }
  const std::int64_t axis = call.axis("dim", self.rank());
  Shape of_self = self.shape(), of_indices = indices.shape();
  const auto at = static_cast<std::size_t>(axis);
  of_self[at] = of_indices[at] = 1;
  const Shape both = broadcast_shapes(of_self, of_indices);
  of_self = of_indices = both;
  of_self[at] = self.dim(axis);
  of_indices[at] = indices.dim(axis);
  return {onnx.gather_elements(onnx.expand(self, of_self), onnx.expand(indices, of_indices),
                               {.axis = axis})};
}

Value reversed(Emit& onnx, Value x, std::int64_t axis) {
  return onnx.slice(x, axis, -1, std::numeric_limits<std::int64_t>::min(), -1);
}

// A quarter turn from the first axis towards the second: the second reversed, then exchanged.
Outputs rot90(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::vector<std::int64_t> axes = call.axes("dims", self.rank());
  const std::int64_t turns = ((call.integer("k") % 4) + 4) % 4;
  const std::int64_t a = axes.at(0), b = axes.at(1);
  if (turns == 1) return {onnx.swap_axes(reversed(onnx, self, b), a, b)};
  if (turns == 2) return {reversed(onnx, reversed(onnx, self, a), b)};
  if (turns == 3) return {onnx.swap_axes(reversed(onnx, self, a), a, b)};
  return {self};
}

Outputs fliplr(const Call& call, Emit& onnx) { return {reversed(onnx, call.tensor("self"), 1)}; }
Outputs flipud(const Call& call, Emit& onnx) { return {reversed(onnx, call.tensor("self"), 0)}; }

constexpr Row kRows[] = {
    {"aten::fliplr(Tensor self) -> Tensor", fliplr},
    {"aten::flipud(Tensor self) -> Tensor", flipud},
    {"aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", put},
    {"aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", rot90},
    {"aten::take(Tensor self, Tensor index) -> Tensor", take},
    {"aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", take_along_dim},
};

}  // namespace

std::span<const Row> flat_indexing_rows() { return kRows; }

}  // namespace sardonyx::aten

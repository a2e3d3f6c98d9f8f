// Results whose size depends on the data: where something is true, and what is there.
#include <algorithm>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// A column an element.
Value columns_of_places(Emit& onnx, Value x) {
  return onnx.nonzero(x.dtype() == DType::kBool ? x : onnx.cast(x, DType::kBool));
}

// A row an element, as PyTorch has it.
Value places(Emit& onnx, Value x) { return onnx.swap_axes(columns_of_places(onnx, x), 0, 1); }

Outputs nonzero(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() > 0) return {places(onnx, self)};
  // A 0-d tensor has one place without coordinates, or none.
  const Value found = places(onnx, onnx.unsqueeze(self, {0}));
  return {onnx.slice(found, 1, 0, 0)};
}

// A tensor of indices for each axis; 0-d tensors have one of them.
Outputs places_by_axis(const Call& call, Emit& onnx, std::string_view name) {
  const Value self = call.tensor(name);
  const Value places = columns_of_places(onnx, self.rank() == 0 ? onnx.unsqueeze(self, {0}) : self);
  Outputs outputs(call.output_count());
  for (std::size_t axis = 0; axis < outputs.size(); ++axis) {
    if (!call.uses_output(axis)) continue;
    outputs[axis] = onnx.select(places, 0, static_cast<std::int64_t>(axis));
  }
  return outputs;
}

Outputs nonzero_numpy(const Call& call, Emit& onnx) { return places_by_axis(call, onnx, "self"); }

Outputs where(const Call& call, Emit& onnx) { return places_by_axis(call, onnx, "condition"); }

// The first `size` places; rows of `fill_value` where there are fewer.
Outputs nonzero_static(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Shape shape = call.result_shape();
  const Value rest = onnx.full(shape, onnx.int_scalar(call.integer("fill_value")));
  if (self.rank() == 0) return {rest};
  return {onnx.slice(onnx.concat({places(onnx, self), rest}, 0), 0, 0, shape[0])};
}

// The elements under a mask, both broadcast, in row-major order.
Outputs masked_select(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self"), mask = call.tensor("mask");
  Value elements = self, chosen = mask;
  if (self.shape() != mask.shape()) {
    const std::int64_t rank = std::max(self.rank(), mask.rank());
    const Value shape = onnx.max(
        {onnx.shape_of(onnx.with_rank(self, rank)), onnx.shape_of(onnx.with_rank(mask, rank))});
    elements = onnx.expand(self, shape);
    chosen = onnx.expand(mask, shape);
  }
  return {onnx.compress(onnx.flatten_to_1d(elements), onnx.flatten_to_1d(chosen), {.axis = 0})};
}

constexpr Row kRows[] = {
    {"aten::argwhere(Tensor self) -> Tensor", nonzero},
    {"aten::masked_select(Tensor self, Tensor mask) -> Tensor", masked_select},
    {"aten::nonzero(Tensor self) -> Tensor", nonzero},
    {"aten::nonzero_numpy(Tensor self) -> Tensor[]", nonzero_numpy},
    {"aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
     nonzero_static},
    {"aten::where(Tensor condition) -> Tensor[]", where},
};

}  // namespace

std::span<const Row> data_dependent_rows() { return kRows; }

}  // namespace sardonyx::aten

// Views and parts of complex tensors: those of the pairs, the last axis left alone.
#include <limits>

#include "aten/complex/componentwise.h"
#include "aten/complex/value.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

std::int64_t rank_of(Value x) { return x.rank() - 1; }

Outputs reshape(const Call& call, Emit& onnx) {
  return {as_complex(onnx, onnx.reshape(call.tensor("self"), paired_result_shape(call)))};
}

Outputs expand(const Call& call, Emit& onnx) {
  return {as_complex(onnx, onnx.expand(call.tensor("self"), paired_result_shape(call)))};
}

Outputs transpose(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t rank = rank_of(self);
  if (rank == 0) return {self};
  return {as_complex(onnx, onnx.swap_axes(self, call.axis("dim0", rank), call.axis("dim1", rank)))};
}

Outputs permute(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  std::vector<std::int64_t> order = call.axes("dims", rank_of(self));
  order.push_back(rank_of(self));
  return {as_complex(onnx, onnx.transpose(self, order))};
}

Outputs unsqueeze(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {as_complex(onnx, onnx.unsqueeze(self, {call.axis("dim", rank_of(self) + 1)}))};
}

Outputs slice(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return {as_complex(
      onnx,
      onnx.slice(self, call.axis("dim", rank_of(self)), call.optional_size("start").value_or(0),
                 call.optional_size("end").value_or(kEnd), call.size("step")))};
}

Outputs select(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {as_complex(onnx, onnx.select(self, call.axis("dim", rank_of(self)), call.size("index")))};
}

Outputs index(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::vector<Value> indices = call.optional_tensors("indices");
  // One tensor of positions is Gather's case; the pairs come along.
  if (indices.size() != 1 || !indices[0] || indices[0].dtype() == DType::kBool) {
    return find_translator_by_parts("aten::index")(call, onnx);
  }
  return {as_complex(onnx, onnx.gather(self, onnx.cast(indices[0], DType::kInt64), {.axis = 0}))};
}

constexpr Row kRows[] = {
    {"aten::expand", expand},
    {"aten::flatten.using_ints", reshape},
    {"aten::index.Tensor", index},
    {"aten::permute", permute},
    {"aten::reshape", reshape},
    {"aten::select.int", select},
    {"aten::slice.Tensor", slice},
    {"aten::squeeze.dim", reshape},
    {"aten::transpose.int", transpose},
    {"aten::unsqueeze", unsqueeze},
    {"aten::view", reshape},
};

}  // namespace

std::span<const Row> complex_shape_rows() { return kRows; }

}  // namespace sardonyx::aten

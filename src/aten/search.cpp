// Extremes with their places, and orders: max.dim, argmax, topk, sort.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// TopK and ArgMax order numbers; bools stand in as integers.
Value orderable(Emit& onnx, Value x) {
  return x.dtype() == DType::kBool ? onnx.cast(x, DType::kInt32) : x;
}

struct Ordered {
  Value values, indices;
};

// The first `count` of an axis in order.
Ordered ranked(Emit& onnx, Value x, std::int64_t axis, Value count, bool largest) {
  const DType dtype = x.dtype();
  const auto [values, indices] =
      onnx.topk(orderable(onnx, x), count, {.axis = axis, .largest = largest ? 1 : 0, .sorted = 1});
  return {onnx.cast(values, dtype), indices};
}

Outputs topk(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const Ordered found = ranked(onnx, self, call.axis("dim", self.rank()),
                               onnx.sizes({call.size("k")}), call.flag("largest"));
  return {found.values, found.indices};
}

// TopK of everything. For equal elements it gives the lower index first, which is a stable order.
Outputs sort(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  const Ordered found =
      ranked(onnx, self, axis, onnx.sizes({self.dim(axis)}), call.flag("descending"));
  return {found.values, found.indices};
}

Outputs argsort(const Call& call, Emit& onnx) { return {sort(call, onnx)[1]}; }

Value arg_extreme(Emit& onnx, Value x, std::int64_t axis, bool keep, bool largest) {
  const Value ordered = orderable(onnx, x);
  return largest ? onnx.arg_max(ordered, {.axis = axis, .keepdims = keep ? 1 : 0})
                 : onnx.arg_min(ordered, {.axis = axis, .keepdims = keep ? 1 : 0});
}

// argmax over one axis or over all elements.
Outputs arg(const Call& call, Emit& onnx, bool largest) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {onnx.full(call.result_shape(), onnx.int_scalar(0))};
  if (call.has("dim")) {
    return {arg_extreme(onnx, self, call.axis("dim", self.rank()), call.flag("keepdim"), largest)};
  }
  const Value place = arg_extreme(onnx, onnx.flatten_to_1d(self), 0, false, largest);
  return {onnx.reshape(place, call.result_shape())};
}

Outputs argmax(const Call& call, Emit& onnx) { return arg(call, onnx, true); }
Outputs argmin(const Call& call, Emit& onnx) { return arg(call, onnx, false); }

// The extreme of an axis and where it is.
Outputs extreme_along(const Call& call, Emit& onnx, bool largest) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  const Value place = arg_extreme(onnx, self, axis, true, largest);
  const Value value = onnx.gather_elements(self, place, {.axis = axis});
  if (call.flag("keepdim")) return {value, place};
  return {onnx.squeeze(value, {axis}), onnx.squeeze(place, {axis})};
}

Outputs max_dim(const Call& call, Emit& onnx) { return extreme_along(call, onnx, true); }
Outputs min_dim(const Call& call, Emit& onnx) { return extreme_along(call, onnx, false); }

constexpr Row kRows[] = {
    {"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", 13, argmax},
    {"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", 13, argmin},
    {"aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", 13, argsort},
    {"aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> "
     "Tensor",
     13, argsort},
    {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     13, max_dim},
    {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     13, min_dim},
    {"aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
     "indices)",
     13, sort},
    {"aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
     "(Tensor "
     "values, Tensor indices)",
     13, sort},
    {"aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
     "(Tensor "
     "values, Tensor indices)",
     13, topk},
};

}  // namespace

std::span<const Row> search_rows() { return kRows; }

}  // namespace sardonyx::aten

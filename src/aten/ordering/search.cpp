// Extremes with their places, and orders: max.dim, argmax, topk, sort.
#include <limits>

#include "aten/families.h"
#include "aten/reduction/reduction_axes.h"

namespace sardonyx::aten {
namespace {

// What is compared in place of x. Bools are numbers. Among floats NaN is the extreme one in
// PyTorch, the greatest for +infinity and the least for -infinity here; ONNX's TopK and ArgMax say
// nothing of it: NaN stands in as that infinity, and the infinity as the last finite number of a
// wider type (of float64 itself: where it ties with the infinity).
Value sort_key(Emit& onnx, Value x, double nan = std::numeric_limits<double>::infinity()) {
  if (x.dtype() == DType::kBool) return onnx.cast(x, DType::kInt32);
  if (!base::is_floating(x.dtype()) || x.is_constant()) return x;
  const bool half = base::bit_width(x.dtype()) < 32;
  const double last =
      half ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
  const Value key = onnx.cast(x, half ? DType::kFloat32 : DType::kFloat64);
  const Value limit = onnx.scalar_like(nan > 0 ? last : -last, key);
  const Value finite = nan > 0 ? onnx.min({key, limit}) : onnx.max({key, limit});
  return onnx.where(onnx.is_nan(key), onnx.scalar_like(nan, key), finite);
}

// The first `count` of an axis in order: values and indices. For equal elements TopK gives the
// lower index first, which is a stable order.
Outputs ranked(Emit& onnx, Value x, std::int64_t axis, Value count, bool largest) {
  const Value key = sort_key(onnx, x);
  const auto [values, indices] =
      onnx.topk(key, count, {.axis = axis, .largest = largest ? 1 : 0, .sorted = 1});
  if (!base::is_floating(x.dtype())) return {onnx.cast(values, x.dtype()), indices};
  return {key == x ? values : onnx.gather_elements(x, indices, {.axis = axis}), indices};
}

Outputs topk(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) {
    if (call.size("k").is(1)) return {self, onnx.int_scalar(0)};
    call.refuse("topk of no element of a 0-d tensor");
  }
  return ranked(onnx, self, call.axis("dim", self.rank()), onnx.sizes({call.size("k")}),
                call.flag("largest"));
}

Outputs sort(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  return ranked(onnx, self, axis, onnx.sizes({self.dim(axis)}), call.flag("descending"));
}

Outputs argsort(const Call& call, Emit& onnx) { return {sort(call, onnx)[1]}; }

// Where the first extreme of the axis is; NaN counts as the extreme.
Value arg_extreme(Emit& onnx, Value x, std::int64_t axis, bool keep, bool largest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Value key = sort_key(onnx, x, largest ? kInfinity : -kInfinity);
  return largest ? onnx.arg_max(key, {.axis = axis, .keepdims = keep ? 1 : 0})
                 : onnx.arg_min(key, {.axis = axis, .keepdims = keep ? 1 : 0});
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

// The extreme of an axis and where it is. Where nothing reads the place, a reduction is faster than
// finding it.
Outputs extreme_along(const Call& call, Emit& onnx, bool largest) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  if (!call.uses_output(1) && self.dtype() != DType::kBool) {
    return {extreme_over(onnx, largest ? "ReduceMax" : "ReduceMin", self, {axis},
                         call.flag("keepdim"))};
  }
  const Value place = arg_extreme(onnx, self, axis, true, largest);
  const Value value = onnx.gather_elements(self, place, {.axis = axis});
  if (call.flag("keepdim")) return {value, place};
  return {onnx.squeeze(value, {axis}), onnx.squeeze(place, {axis})};
}

Outputs max_dim(const Call& call, Emit& onnx) { return extreme_along(call, onnx, true); }
Outputs min_dim(const Call& call, Emit& onnx) { return extreme_along(call, onnx, false); }

constexpr Row kRows[] = {
    {"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", argmax},
    {"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", argmin},
    {"aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", argsort},
    {"aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> "
     "Tensor",
     argsort},
    {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     max_dim},
    {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     min_dim},
    {"aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
     "indices)",
     sort},
    {"aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
     "(Tensor "
     "values, Tensor indices)",
     sort},
    {"aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
     "(Tensor "
     "values, Tensor indices)",
     topk},
};

}  // namespace

std::span<const Row> search_rows() { return kRows; }

}  // namespace sardonyx::aten

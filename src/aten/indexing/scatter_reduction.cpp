// Sums, products, means and extremes of the elements that an index brings together:
// scatter_reduce and index_reduce.
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/indexing/scattering.h"

namespace sardonyx::aten {
namespace {

struct Reduction {
  std::string_view onnx_name;
  double neutral;
};

Reduction reduction_of(const Call& call) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string name = call.text("reduce");
  if (name == "sum" || name == "mean") return {"add", 0};
  if (name == "prod") return {"mul", 1};
  if (name == "amax") return {"max", -kInfinity};
  if (name == "amin") return {"min", kInfinity};
  call.refuse(call.op() + " with reduce='" + name + "'");
}

// The type's own value that changes nothing: integers have no infinity.
Value neutral_value(Emit& onnx, const Reduction& reduction, DType dtype) {
  if (base::is_integer(dtype) && reduction.onnx_name == "max") {
    return onnx.int_scalar(base::integer_min(dtype), dtype);
  }
  if (base::is_integer(dtype) && reduction.onnx_name == "min") {
    return onnx.int_scalar(base::integer_max(dtype), dtype);
  }
  return onnx.scalar(reduction.neutral, dtype);
}

// `self` reduced with the elements of `source`, each at its place along the axis.
struct Scattered {
  Value self, index, source;
  std::int64_t axis;
};

Value combined(Emit& onnx, const Scattered& s, Value into, Value updates, std::string_view how) {
  return scatter_combined(onnx, into, s.index, updates, s.axis, how);
}

// A sum over as many elements; those that nothing is scattered to are divided by 1. PyTorch's
// integer mean rounds down, Div towards zero.
Value mean_of_sum(Emit& onnx, const Scattered& s, Value sum, bool include_self) {
  const DType dtype = sum.dtype();
  const Value one = onnx.one(dtype);
  const Value start = onnx.full(s.self.shape(), include_self ? one : onnx.zero(dtype));
  const Value count = combined(onnx, s, start, onnx.expand(one, s.index.shape()), "add");
  const Value divisor = onnx.max({count, one});
  const Value mean = onnx.div(sum, divisor);
  if (!base::is_integer(dtype)) return mean;
  return onnx.sub(mean, onnx.cast(onnx.less(sum, onnx.mul(mean, divisor)), dtype));
}

Outputs reduced(const Call& call, Emit& onnx, const Scattered& s) {
  const Reduction reduction = reduction_of(call);
  const bool include_self = call.flag("include_self");
  Value start = s.self;
  if (!include_self) {
    const Value neutral = neutral_value(onnx, reduction, start.dtype());
    start = onnx.scatter_elements(start, s.index, onnx.expand(neutral, s.index.shape()),
                                  {.axis = s.axis});
  }
  Value result = combined(onnx, s, start, s.source, reduction.onnx_name);
  if (call.text("reduce") == "mean") result = mean_of_sum(onnx, s, result, include_self);
  return {cast_to_result(onnx, call, onnx.reshape(result, call.result_shape()))};
}

// ONNX Runtime combines neither half types nor truth values.
DType combining_type(DType dtype) {
  return dtype == DType::kBool ? DType::kInt32 : computing_type(dtype);
}

Outputs scatter_reduce(const Call& call, Emit& onnx) {
  const DType dtype = combining_type(call.result_dtype());
  const Value self = onnx.with_rank(onnx.cast(call.tensor("self"), dtype), 1);
  const Value index = onnx.with_rank(call.tensor("index"), 1);
  const Value source = onnx.with_rank(onnx.cast(call.tensor("src"), dtype), 1);
  if (index.rank() != self.rank()) return {call.tensor("self")};  // the index is empty
  return reduced(call, onnx,
                 {self, index, cut_to(onnx, source, index), call.axis("dim", self.rank())});
}

Outputs index_reduce(const Call& call, Emit& onnx) {
  const DType dtype = combining_type(call.result_dtype());
  const Value self = onnx.with_rank(onnx.cast(call.tensor("self"), dtype), 1);
  const Value source = onnx.with_rank(onnx.cast(call.tensor("source"), dtype), 1);
  const std::int64_t axis = call.axis("dim", self.rank());
  const Value index = spread_index(onnx, call.tensor("index"), source, axis);
  return reduced(call, onnx, {self, index, source, axis});
}

constexpr Row kRows[] = {
    {"aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
     "include_self=True) -> Tensor",
     index_reduce},
    {"aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
     "include_self=True) -> Tensor",
     scatter_reduce},
};

}  // namespace

std::span<const Row> scatter_reduction_rows() { return kRows; }

}  // namespace sardonyx::aten

// Variances, deviations and vector norms.

#include "aten/families.h"
#include "aten/reduction/reduction_axes.h"
#include "aten/reduction/vector_norm.h"

namespace sardonyx::aten {
namespace {

// In float32 where the result's type is shorter, which a deviation's square may not fit in.
struct Moments {
  Value mean, variance;
  DType dtype;  // of the result
};

// The sum of squares about the mean over n - correction, at least over 0 (which gives NaN or
// infinity as PyTorch does).
Moments moments(const Call& call, Emit& onnx, double correction) {
  const Value self = reduced_tensor(call);
  const DType dtype = base::bit_width(self.dtype()) < 32 ? DType::kFloat32 : self.dtype();
  const Value x = onnx.cast(self, dtype);
  const std::vector<std::int64_t> axes = reduction_axes(call, self);
  const bool keep = keeps_dims(call);
  const Expr count = reduced_count(x, axes);
  // ONNX's mean of nothing is undefined.
  if (count.is(0) && !axes.empty()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Value nothing =
        onnx.full(call.result_shape(call.uses_output(0) ? 0 : 1), onnx.scalar(nan, self.dtype()));
    return {nothing, nothing, self.dtype()};
  }
  Value mean = axes.empty() ? x : mean_over(onnx, x, axes, true);
  Value centered = onnx.sub(x, mean);
  // A mean that is large beside the spread is rounded by as much; what is left shows by how much.
  if (!axes.empty()) {
    const Value rest = mean_over(onnx, centered, axes, true);
    centered = onnx.sub(centered, rest);
    mean = onnx.add(mean, rest);
  }
  const Value squares = onnx.mul(centered, centered);
  const Value sum = axes.empty() ? squares : onnx.reduce("ReduceSum", squares, axes, keep);
  const Value divisor = onnx.max(
      {onnx.sub(onnx.cast(count_of_reduced(onnx, x, axes), dtype), onnx.scalar(correction, dtype)),
       onnx.zero(dtype)});
  const Value kept = keep || axes.empty() ? mean : onnx.squeeze(mean, axes);
  return {kept, onnx.div(sum, divisor), self.dtype()};
}

double correction_of(const Call& call) {
  const program::Schema& schema = *call.captured().schema;
  if (schema.find("correction")) {
    const std::optional<Scalar> correction = call.optional_scalar("correction");
    return correction ? correction->as_double() : 1;
  }
  return call.flag("unbiased") ? 1 : 0;
}

Outputs var(const Call& call, Emit& onnx) {
  const Moments found = moments(call, onnx, correction_of(call));
  return {onnx.cast(found.variance, found.dtype)};
}

Outputs std_deviation(const Call& call, Emit& onnx) {
  const Moments found = moments(call, onnx, correction_of(call));
  return {onnx.cast(onnx.sqrt(found.variance), found.dtype)};
}

Outputs var_mean(const Call& call, Emit& onnx) {
  const Moments found = moments(call, onnx, correction_of(call));
  return {onnx.cast(found.variance, found.dtype), onnx.cast(found.mean, found.dtype)};
}

Outputs std_mean(const Call& call, Emit& onnx) {
  const Moments found = moments(call, onnx, correction_of(call));
  return {onnx.cast(onnx.sqrt(found.variance), found.dtype), onnx.cast(found.mean, found.dtype)};
}

Outputs norm_of_order(const Call& call, Emit& onnx, std::string_view order_name) {
  const Value self = call.tensor("self");
  const DType result = call.result_dtype();
  // Half types would overflow in the squares; PyTorch accumulates in float32.
  const DType dtype = base::bit_width(result) < 32 ? DType::kFloat32 : result;
  const std::optional<Scalar> order = call.optional_scalar(order_name);
  const Value x = onnx.cast(self, dtype);
  const double p = order ? order->as_double() : 2;
  const Value norm = vector_norm(onnx, x, reduction_axes(call, x), keeps_dims(call), p);
  return {onnx.cast(norm, result)};
}

// Slices of an axis whose norm is above maxnorm, scaled down to it.
Outputs renorm(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType dtype = base::bit_width(self.dtype()) < 32 ? DType::kFloat32 : self.dtype();
  const Value x = onnx.cast(self, dtype);
  const std::int64_t dim = call.axis("dim", self.rank());
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < self.rank(); ++axis) {
    if (axis != dim) axes.push_back(axis);
  }
  const Value norm = vector_norm(onnx, x, axes, true, call.scalar("p").as_double());
  const Value most = onnx.scalar(call.scalar("maxnorm").as_double(), dtype);
  const Value scale = onnx.div(most, onnx.add(norm, onnx.scalar(1e-7, dtype)));
  const Value scaled = onnx.where(onnx.greater(norm, most), onnx.mul(x, scale), x);
  return {onnx.cast(scaled, self.dtype())};
}

// Every axis but dim. -1 is not the last axis here: it leaves none out.
std::vector<std::int64_t> axes_but_dim(const Call& call, std::int64_t rank) {
  const std::int64_t given = call.integer("dim");
  const std::int64_t left_out = given < -1 ? given + rank : given;
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (axis != left_out) axes.push_back(axis);
  }
  return axes;
}

Outputs norm_except_dim(const Call& call, Emit& onnx) {
  const Value v = call.tensor("v");
  const bool keep = call.integer("dim") != -1;
  const auto order = static_cast<double>(call.integer("pow"));
  return {vector_norm(onnx, v, axes_but_dim(call, v.rank()), keep, order)};
}

// v * g / |v|, the norm over every axis but one.
Outputs weight_norm(const Call& call, Emit& onnx) {
  const Value v = call.tensor("v"), g = call.tensor("g");
  const std::vector<std::int64_t> axes = axes_but_dim(call, v.rank());
  const Value squares = onnx.mul(v, v);
  const Value norm =
      onnx.sqrt(axes.empty() ? squares : onnx.reduce("ReduceSum", squares, axes, true));
  return {onnx.mul(v, onnx.div(g, norm))};
}

Outputs linalg_vector_norm(const Call& call, Emit& onnx) {
  return norm_of_order(call, onnx, "ord");
}
Outputs norm_p(const Call& call, Emit& onnx) { return norm_of_order(call, onnx, "p"); }

constexpr Row kRows[] = {
    {"aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", renorm},
    {"aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", weight_norm},
    {"aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     linalg_vector_norm},
    {"aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", norm_except_dim},
    {"aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", norm_p},
    {"aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
     norm_p},
    {"aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, "
     "ScalarType dtype) -> Tensor",
     norm_p},
    {"aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", norm_p},
    {"aten::std(Tensor self, bool unbiased=True) -> Tensor", std_deviation},
    {"aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
     "keepdim=False) -> Tensor",
     std_deviation},
    {"aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
     std_deviation},
    {"aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", std_mean},
    {"aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
     "keepdim=False) -> (Tensor, Tensor)",
     std_mean},
    {"aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     std_mean},
    {"aten::var(Tensor self, bool unbiased=True) -> Tensor", var},
    {"aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
     "keepdim=False) -> Tensor",
     var},
    {"aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
     var},
    {"aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", var_mean},
    {"aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
     "keepdim=False) -> (Tensor, Tensor)",
     var_mean},
    {"aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     var_mean},
};

}  // namespace

std::span<const Row> statistics_rows() { return kRows; }

}  // namespace sardonyx::aten

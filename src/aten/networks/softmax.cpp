// Softmax and its logarithm.
#include <limits>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// In the type asked for; half types accumulate in float32 inside the kernel.
template <class Apply>
Value over_axis(const Call& call, Emit& onnx, const Apply& apply) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  // ONNX has no axis to normalize over in a 0-d tensor.
  if (x.rank() == 0) return onnx.squeeze(apply(onnx.unsqueeze(x, {0}), 0), {0});
  return apply(x, call.axis("dim", x.rank()));
}

Outputs softmax(const Call& call, Emit& onnx) {
  return {over_axis(call, onnx,
                    [&](Value x, std::int64_t axis) { return onnx.softmax(x, {.axis = axis}); })};
}

// Zeros where all that it goes over is -infinity, which makes the softmax NaN.
Outputs safe_softmax(const Call& call, Emit& onnx) {
  return {over_axis(call, onnx, [&](Value x, std::int64_t axis) {
    const Value lowest = onnx.scalar(-std::numeric_limits<double>::infinity(), x.dtype());
    const Value seen = onnx.cast(onnx.not_(onnx.equal(x, lowest)), DType::kInt32);
    const Value any_seen = onnx.reduce("ReduceMax", seen, {&axis, 1}, /*keep_dims=*/true);
    return onnx.where(onnx.cast(any_seen, DType::kBool), onnx.softmax(x, {.axis = axis}),
                      onnx.zero(x.dtype()));
  })};
}

Outputs log_softmax(const Call& call, Emit& onnx) {
  return {over_axis(
      call, onnx, [&](Value x, std::int64_t axis) { return onnx.log_softmax(x, {.axis = axis}); })};
}

constexpr Row kRows[] = {
    {"aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", log_softmax},
    {"aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", safe_softmax},
    {"aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", softmax},
    {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", log_softmax},
    {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax},
    {"aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     log_softmax},
    {"aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax},
};

}  // namespace

std::span<const Row> softmax_rows() { return kRows; }

}  // namespace sardonyx::aten

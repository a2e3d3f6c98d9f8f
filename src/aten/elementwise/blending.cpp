// Three operands at once: lerp, addcmul, addcdiv.
#include <cmath>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value wide(const Call& call, Emit& onnx, std::string_view name) {
  return operand(call, onnx, name, computing_type(call.result_dtype()));
}

Value weighted(const Call& call, Emit& onnx, Value x) {
  const Scalar value = call.scalar("value");
  return value.is(1) ? x : onnx.mul(x, scalar_value(onnx, value, x.dtype()));
}

Outputs addcmul(const Call& call, Emit& onnx) {
  const Value product =
      onnx.mul(weighted(call, onnx, wide(call, onnx, "tensor1")), wide(call, onnx, "tensor2"));
  return {cast_to_result(onnx, call, onnx.add(wide(call, onnx, "self"), product))};
}

Outputs addcdiv(const Call& call, Emit& onnx) {
  const Value quotient =
      onnx.div(weighted(call, onnx, wide(call, onnx, "tensor1")), wide(call, onnx, "tensor2"));
  return {cast_to_result(onnx, call, onnx.add(wide(call, onnx, "self"), quotient))};
}

// From the nearer end, as PyTorch does, so that weights 0 and 1 give the ends exactly.
Outputs lerp(const Call& call, Emit& onnx) {
  const Value start = wide(call, onnx, "self"), end = wide(call, onnx, "end");
  const Value weight = wide(call, onnx, "weight");
  const Value one = onnx.one(start.dtype()), half = onnx.scalar(0.5, start.dtype());
  const Value way = onnx.sub(end, start);
  const Value from_start = onnx.add(start, onnx.mul(weight, way));
  const Value from_end = onnx.sub(end, onnx.mul(way, onnx.sub(one, weight)));
  const Value nearer_start = onnx.less(onnx.abs(weight), half);
  return {cast_to_result(onnx, call, onnx.where(nearer_start, from_start, from_end))};
}

constexpr Row kRows[] = {
    {"aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     addcdiv},
    {"aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     addcmul},
    {"aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", lerp},
    {"aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", lerp},
};

}  // namespace

std::span<const Row> blending_rows() { return kRows; }

}  // namespace sardonyx::aten

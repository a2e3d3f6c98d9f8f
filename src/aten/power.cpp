// Powers.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Small whole exponents by multiplication, exact for every type.
Value whole_power(Emit& onnx, Value x, std::int64_t exponent) {
  Value result = x;
  for (std::int64_t i = 1; i < exponent; ++i) result = onnx.mul(result, x);
  return result;
}

Outputs pow_tensor_scalar(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  const Scalar exponent = call.scalar("exponent");
  if (exponent.is(1)) return {x};
  if (exponent.is(0.5)) return {onnx.sqrt(x)};
  for (const std::int64_t whole : {2, 3}) {
    if (exponent.is(static_cast<double>(whole))) return {whole_power(onnx, x, whole)};
  }
  if (exponent.is(-1)) return {onnx.reciprocal(x)};
  if (exponent.is(-0.5)) return {onnx.reciprocal(onnx.sqrt(x))};
  return {onnx.pow(x, scalar_value(onnx, exponent, x.dtype()))};
}

Outputs pow_tensor_tensor(const Call& call, Emit& onnx) {
  return {onnx.pow(cast_to_result(onnx, call, call.tensor("self")),
                   cast_to_result(onnx, call, call.tensor("exponent")))};
}

Outputs pow_scalar(const Call& call, Emit& onnx) {
  return {onnx.pow(scalar_value(onnx, call.scalar("self"), call.result_dtype()),
                   cast_to_result(onnx, call, call.tensor("exponent")))};
}

constexpr Row kRows[] = {
    {"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", 13, pow_scalar},
    {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", 13, pow_tensor_scalar},
    {"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", 13, pow_tensor_tensor},
};

}  // namespace

std::span<const Row> power_rows() { return kRows; }

}  // namespace sardonyx::aten

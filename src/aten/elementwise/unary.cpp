// Elementwise functions of one tensor that ONNX has as they are.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Integers become floating first, as the result's type says.
Value floating_self(const Call& call, Emit& onnx) {
  return cast_to_result(onnx, call, call.tensor("self"));
}

Outputs acos(const Call& call, Emit& onnx) { return {onnx.acos(floating_self(call, onnx))}; }
Outputs acosh(const Call& call, Emit& onnx) { return {onnx.acosh(floating_self(call, onnx))}; }
Outputs asin(const Call& call, Emit& onnx) { return {onnx.asin(floating_self(call, onnx))}; }
Outputs asinh(const Call& call, Emit& onnx) { return {onnx.asinh(floating_self(call, onnx))}; }
Outputs atan(const Call& call, Emit& onnx) { return {onnx.atan(floating_self(call, onnx))}; }
Outputs atanh(const Call& call, Emit& onnx) { return {onnx.atanh(floating_self(call, onnx))}; }
Outputs cos(const Call& call, Emit& onnx) { return {onnx.cos(floating_self(call, onnx))}; }
Outputs cosh(const Call& call, Emit& onnx) { return {onnx.cosh(floating_self(call, onnx))}; }
Outputs erf(const Call& call, Emit& onnx) { return {onnx.erf(floating_self(call, onnx))}; }
Outputs exp(const Call& call, Emit& onnx) { return {onnx.exp(floating_self(call, onnx))}; }
Outputs log(const Call& call, Emit& onnx) { return {onnx.log(floating_self(call, onnx))}; }
Outputs sin(const Call& call, Emit& onnx) { return {onnx.sin(floating_self(call, onnx))}; }
Outputs sinh(const Call& call, Emit& onnx) { return {onnx.sinh(floating_self(call, onnx))}; }
Outputs sqrt(const Call& call, Emit& onnx) { return {onnx.sqrt(floating_self(call, onnx))}; }
Outputs tan(const Call& call, Emit& onnx) { return {onnx.tan(floating_self(call, onnx))}; }

Outputs reciprocal(const Call& call, Emit& onnx) {
  return {onnx.reciprocal(floating_self(call, onnx))};
}

Outputs rsqrt(const Call& call, Emit& onnx) {
  return {onnx.reciprocal(onnx.sqrt(floating_self(call, onnx)))};
}

Outputs square(const Call& call, Emit& onnx) {
  const Value self = cast_to_result(onnx, call, call.tensor("self"));
  return {onnx.mul(self, self)};
}

Outputs neg(const Call& call, Emit& onnx) { return {onnx.neg(call.tensor("self"))}; }

Outputs abs(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  // What cannot be negative is its own magnitude.
  return {base::is_signed(self.dtype()) ? onnx.abs(self) : self};
}

constexpr Row kRows[] = {
    {"aten::_neg_view_copy(Tensor self) -> Tensor", 13, neg},
    {"aten::abs(Tensor self) -> Tensor", 13, abs},
    {"aten::absolute(Tensor self) -> Tensor", 13, abs},
    {"aten::acos(Tensor self) -> Tensor", 13, acos},
    {"aten::acosh(Tensor self) -> Tensor", 13, acosh},
    {"aten::arccos(Tensor self) -> Tensor", 13, acos},
    {"aten::arccosh(Tensor self) -> Tensor", 13, acosh},
    {"aten::arcsin(Tensor self) -> Tensor", 13, asin},
    {"aten::arcsinh(Tensor self) -> Tensor", 13, asinh},
    {"aten::arctan(Tensor self) -> Tensor", 13, atan},
    {"aten::arctanh(Tensor self) -> Tensor", 13, atanh},
    {"aten::asin(Tensor self) -> Tensor", 13, asin},
    {"aten::asinh(Tensor self) -> Tensor", 13, asinh},
    {"aten::atan(Tensor self) -> Tensor", 13, atan},
    {"aten::atanh(Tensor self) -> Tensor", 13, atanh},
    {"aten::cos(Tensor self) -> Tensor", 13, cos},
    {"aten::cosh(Tensor self) -> Tensor", 13, cosh},
    {"aten::erf(Tensor self) -> Tensor", 13, erf},
    {"aten::exp(Tensor self) -> Tensor", 13, exp},
    {"aten::log(Tensor self) -> Tensor", 13, log},
    {"aten::neg(Tensor self) -> Tensor", 13, neg},
    {"aten::negative(Tensor self) -> Tensor", 13, neg},
    {"aten::reciprocal(Tensor self) -> Tensor", 13, reciprocal},
    {"aten::rsqrt(Tensor self) -> Tensor", 13, rsqrt},
    {"aten::sin(Tensor self) -> Tensor", 13, sin},
    {"aten::sinh(Tensor self) -> Tensor", 13, sinh},
    {"aten::sqrt(Tensor self) -> Tensor", 13, sqrt},
    {"aten::square(Tensor self) -> Tensor", 13, square},
    {"aten::tan(Tensor self) -> Tensor", 13, tan},
};

}  // namespace

std::span<const Row> unary_rows() { return kRows; }

}  // namespace sardonyx::aten

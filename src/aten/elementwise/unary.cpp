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
    {"aten::_neg_view_copy(Tensor self) -> Tensor", neg},
    {"aten::abs(Tensor self) -> Tensor", abs},
    {"aten::absolute(Tensor self) -> Tensor", abs},
    {"aten::acos(Tensor self) -> Tensor", acos},
    {"aten::acosh(Tensor self) -> Tensor", acosh},
    {"aten::arccos(Tensor self) -> Tensor", acos},
    {"aten::arccosh(Tensor self) -> Tensor", acosh},
    {"aten::arcsin(Tensor self) -> Tensor", asin},
    {"aten::arcsinh(Tensor self) -> Tensor", asinh},
    {"aten::arctan(Tensor self) -> Tensor", atan},
    {"aten::arctanh(Tensor self) -> Tensor", atanh},
    {"aten::asin(Tensor self) -> Tensor", asin},
    {"aten::asinh(Tensor self) -> Tensor", asinh},
    {"aten::atan(Tensor self) -> Tensor", atan},
    {"aten::atanh(Tensor self) -> Tensor", atanh},
    {"aten::cos(Tensor self) -> Tensor", cos},
    {"aten::cosh(Tensor self) -> Tensor", cosh},
    {"aten::erf(Tensor self) -> Tensor", erf},
    {"aten::exp(Tensor self) -> Tensor", exp},
    {"aten::log(Tensor self) -> Tensor", log},
    {"aten::neg(Tensor self) -> Tensor", neg},
    {"aten::negative(Tensor self) -> Tensor", neg},
    {"aten::reciprocal(Tensor self) -> Tensor", reciprocal},
    {"aten::rsqrt(Tensor self) -> Tensor", rsqrt},
    {"aten::sin(Tensor self) -> Tensor", sin},
    {"aten::sinh(Tensor self) -> Tensor", sinh},
    {"aten::sqrt(Tensor self) -> Tensor", sqrt},
    {"aten::square(Tensor self) -> Tensor", square},
    {"aten::tan(Tensor self) -> Tensor", tan},
};

}  // namespace

std::span<const Row> unary_rows() { return kRows; }

}  // namespace sardonyx::aten

// Quotients that are rounded, and what remains.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Both operands, tensors or numbers, in the result's type.
Pair operands(const Call& call, Emit& onnx) {
  const DType dtype = base::real_of(call.result_dtype());
  const auto operand = [&](std::string_view name) -> Value {
    if (call.argument(name).get<program::Value*>()) return onnx.cast(call.tensor(name), dtype);
    return scalar_value(onnx, call.scalar(name), dtype);
  };
  return {operand("self"), operand("other")};
}

// x - floor(x / y) * y for whole numbers: ONNX's Mod without fmod has the divisor's sign.
Value whole_remainder(Emit& onnx, const Pair& pair) { return onnx.mod(pair.left, pair.right); }

// Floats: fmod has the dividend's sign; where the signs differ, one divisor more. -0.0 aside.
Value float_remainder(Emit& onnx, const Pair& pair) {
  const Value rest = onnx.mod(pair.left, pair.right, {.fmod = 1});
  const Value zero = onnx.zero(rest.dtype());
  const Value other_sign = onnx.xor_(onnx.less(rest, zero), onnx.less(pair.right, zero));
  const Value adjust = onnx.and_(onnx.not_(onnx.equal(rest, zero)), other_sign);
  return onnx.where(adjust, onnx.add(rest, pair.right), rest);
}

Value remainder_of(Emit& onnx, const Pair& pair) {
  return base::is_floating(pair.left.dtype()) ? float_remainder(onnx, pair)
                                              : whole_remainder(onnx, pair);
}

// Whole numbers: ONNX's Div rounds towards zero, so the remainder goes first.
Value floor_quotient(Emit& onnx, const Pair& pair) {
  if (!base::is_floating(pair.left.dtype())) {
    if (base::is_unsigned(pair.left.dtype())) return onnx.div(pair.left, pair.right);
    return onnx.div(onnx.sub(pair.left, whole_remainder(onnx, pair)), pair.right);
  }
  return onnx.floor(onnx.div(pair.left, pair.right));
}

Value truncated(Emit& onnx, Value x) {
  if (!base::is_floating(x.dtype())) return x;
  return onnx.mul(onnx.sign(x), onnx.floor(onnx.abs(x)));
}

Outputs floor_divide(const Call& call, Emit& onnx) {
  return {floor_quotient(onnx, operands(call, onnx))};
}

Outputs div_mode(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  if (!call.has("rounding_mode")) return {onnx.div(pair.left, pair.right)};
  if (call.text("rounding_mode") == "floor") return {floor_quotient(onnx, pair)};
  return {truncated(onnx, onnx.div(pair.left, pair.right))};
}

Outputs remainder(const Call& call, Emit& onnx) {
  return {remainder_of(onnx, operands(call, onnx))};
}

// The remainder with the dividend's sign.
Outputs fmod(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  return {onnx.mod(pair.left, pair.right, {.fmod = 1})};
}

Outputs trunc(const Call& call, Emit& onnx) { return {truncated(onnx, call.tensor("self"))}; }

Outputs floor(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {base::is_floating(self.dtype()) ? onnx.floor(self) : self};
}

Outputs ceil(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {base::is_floating(self.dtype()) ? onnx.ceil(self) : self};
}

Outputs round(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {base::is_floating(self.dtype()) ? onnx.round(self) : self};
}

Outputs sign(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {self.dtype() == DType::kBool ? self : onnx.sign(self)};
}

constexpr Row kRows[] = {
    {"aten::ceil(Tensor self) -> Tensor", 13, ceil},
    {"aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", 13,
     div_mode},
    {"aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", 13,
     div_mode},
    {"aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", 13,
     div_mode},
    {"aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", 13,
     div_mode},
    {"aten::fix(Tensor self) -> Tensor", 13, trunc},
    {"aten::floor(Tensor self) -> Tensor", 13, floor},
    {"aten::floor_divide(Tensor self, Tensor other) -> Tensor", 13, floor_divide},
    {"aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", 13, floor_divide},
    {"aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", 13, fmod},
    {"aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", 13, fmod},
    {"aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", 13, remainder},
    {"aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", 13, remainder},
    {"aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", 13, remainder},
    {"aten::round(Tensor self) -> Tensor", 13, round},
    {"aten::sgn(Tensor self) -> Tensor", 13, sign},
    {"aten::sign(Tensor self) -> Tensor", 13, sign},
    {"aten::trunc(Tensor self) -> Tensor", 13, trunc},
};

}  // namespace

std::span<const Row> division_rows() { return kRows; }

}  // namespace sardonyx::aten

// Quotients that are rounded, and what remains.
#include <algorithm>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "onnx/gen/op.h"

namespace sardonyx::aten {
namespace {

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

// As PyTorch and Python have it: from the remainder, so that 1 // 0.1 is 9, and infinities divided
// are NaN.
Value float_floor_quotient(Emit& onnx, const Pair& given) {
  const DType dtype = computing_type(given.left.dtype());
  const Pair pair = {onnx.cast(given.left, dtype), onnx.cast(given.right, dtype)};
  const Value zero = onnx.zero(dtype), one = onnx.one(dtype);
  const Value rest = onnx.mod(pair.left, pair.right, {.fmod = 1});
  const Value multiple = onnx.div(onnx.sub(pair.left, rest), pair.right);
  const Value other_sign = onnx.xor_(onnx.less(rest, zero), onnx.less(pair.right, zero));
  const Value below = onnx.and_(onnx.not_(onnx.equal(rest, zero)), other_sign);
  const Value quotient = onnx.where(below, onnx.sub(multiple, one), multiple);
  // What rounding left just under a whole number is that number.
  const Value floor = onnx.floor(quotient);
  const Value nearly = onnx.greater(onnx.sub(quotient, floor), onnx.scalar(0.5, dtype));
  const Value whole = onnx.where(nearly, onnx.add(floor, one), floor);
  const Value ratio = onnx.div(pair.left, pair.right);
  const Value signed_zero = onnx.mul(ratio, zero);  // as what is chosen second it keeps its sign
  const Value result = onnx.where(onnx.cast(quotient, DType::kBool), whole, signed_zero);
  return onnx.cast(onnx.where(onnx.equal(pair.right, zero), ratio, result), given.left.dtype());
}

// Whether no element is below zero, as far as its making tells: places, sizes and counts are so.
bool never_negative(Value value) {
  if (value.is_constant()) {
    const auto numbers = value.ints();
    return numbers && std::ranges::none_of(*numbers, [](std::int64_t each) { return each < 0; });
  }
  const onnx::Node* node = value->producer;
  if (node == nullptr || !node->domain.empty()) return false;
  const auto input = [&](std::size_t i) { return Value(node->input(i)); };
  switch (node->op) {
    case onnx::Op::kTopK:
      return value->index == 1;
    case onnx::Op::kArgMax:
    case onnx::Op::kArgMin:
    case onnx::Op::kNonZero:
    case onnx::Op::kShape:
    case onnx::Op::kSize:
      return true;
    case onnx::Op::kRange:  // from there on to above it, or from above it down to nothing
      return input(0).is_constant() && never_negative(input(0)) && input(2).is_constant() &&
             never_negative(input(2));
    case onnx::Op::kExpand:
    case onnx::Op::kGather:
    case onnx::Op::kIdentity:
    case onnx::Op::kReshape:
    case onnx::Op::kSlice:
    case onnx::Op::kSqueeze:
    case onnx::Op::kTranspose:
    case onnx::Op::kUnsqueeze:
      return never_negative(input(0));
    default:
      return false;
  }
}

bool is_positive_number(Value value) {
  const auto numbers = value.is_constant() ? value.ints() : std::nullopt;
  return numbers && numbers->size() == 1 && numbers->front() > 0;
}

// ONNX's Div rounds towards zero: where something remains and the signs differ, one less. Taking
// the remainder off first would leave the type at its lower end.
Value whole_floor_quotient(Emit& onnx, const Pair& pair) {
  const Value quotient = onnx.div(pair.left, pair.right);
  const bool by_positive = is_positive_number(pair.right);
  if (base::is_unsigned(quotient.dtype()) || (by_positive && never_negative(pair.left)))
    return quotient;
  const Value zero = onnx.zero(quotient.dtype());
  const Value rest = whole_remainder(onnx, pair);
  const Value is_below = onnx.less(pair.left, zero);
  const Value other_sign =
      by_positive ? is_below : onnx.xor_(is_below, onnx.less(pair.right, zero));
  const Value below = onnx.and_(onnx.not_(onnx.equal(rest, zero)), other_sign);
  return onnx.sub(quotient, onnx.cast(below, quotient.dtype()));
}

Value floor_quotient(Emit& onnx, const Pair& pair) {
  return base::is_floating(pair.left.dtype()) ? float_floor_quotient(onnx, pair)
                                              : whole_floor_quotient(onnx, pair);
}

Outputs floor_divide(const Call& call, Emit& onnx) {
  return {floor_quotient(onnx, operands(call, onnx))};
}

Outputs div_mode(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  if (!call.has("rounding_mode")) return {onnx.div(pair.left, pair.right)};
  if (call.text("rounding_mode") == "floor") return {floor_quotient(onnx, pair)};
  const Value quotient = onnx.div(pair.left, pair.right);
  return {base::is_floating(quotient.dtype()) ? truncated(onnx, quotient) : quotient};
}

Outputs remainder(const Call& call, Emit& onnx) {
  return {remainder_of(onnx, operands(call, onnx))};
}

// The remainder with the dividend's sign.
Outputs fmod(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  return {onnx.mod(pair.left, pair.right, {.fmod = 1})};
}

Outputs trunc(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {base::is_floating(self.dtype()) ? truncated(onnx, self) : self};
}

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
  if (self.dtype() == DType::kBool) return {self};
  if (!base::is_floating(self.dtype())) return {onnx.sign(self)};
  // PyTorch gives NaN no sign; ONNX does not say what it has.
  return {onnx.where(onnx.is_nan(self), onnx.zero(self.dtype()), onnx.sign(self))};
}

constexpr Row kRows[] = {
    {"aten::ceil(Tensor self) -> Tensor", ceil},
    {"aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", div_mode},
    {"aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", div_mode},
    {"aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
     div_mode},
    {"aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
     div_mode},
    {"aten::fix(Tensor self) -> Tensor", trunc},
    {"aten::floor(Tensor self) -> Tensor", floor},
    {"aten::floor_divide(Tensor self, Tensor other) -> Tensor", floor_divide},
    {"aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", floor_divide},
    {"aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", fmod},
    {"aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", fmod},
    {"aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", remainder},
    {"aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", remainder},
    {"aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", remainder},
    {"aten::round(Tensor self) -> Tensor", round},
    {"aten::sgn(Tensor self) -> Tensor", sign},
    {"aten::sign(Tensor self) -> Tensor", sign},
    {"aten::trunc(Tensor self) -> Tensor", trunc},
};

}  // namespace

std::span<const Row> division_rows() { return kRows; }

}  // namespace sardonyx::aten

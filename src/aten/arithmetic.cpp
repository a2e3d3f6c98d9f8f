// Sums, differences, products and quotients with PyTorch's promotion.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The second operand of an elementwise call, tensor or number, in the result's type.
Value other_operand(const Call& call, Emit& onnx, std::string_view name = "other") {
  const DType dtype = base::real_of(call.result_dtype());
  if (call.argument(name).get<program::Value*>()) return onnx.cast(call.tensor(name), dtype);
  return scalar_value(onnx, call.scalar(name), dtype);
}

Value self_operand(const Call& call, Emit& onnx) {
  return cast_to_result(onnx, call, call.tensor("self"));
}

Value times(Emit& onnx, Value x, const Scalar& factor) {
  if (factor.is(1)) return x;
  // Products of bools with bools: alpha can only be true or false.
  if (x.dtype() == DType::kBool) {
    return onnx.and_(x, scalar_value(onnx, factor, DType::kBool));
  }
  return onnx.mul(x, scalar_value(onnx, factor, x.dtype()));
}

Outputs add(const Call& call, Emit& onnx) {
  const Value self = self_operand(call, onnx);
  const Value other = times(onnx, other_operand(call, onnx), call.scalar("alpha"));
  if (self.dtype() == DType::kBool) return {onnx.or_(self, other)};
  return {onnx.add(self, other)};
}

Outputs sub(const Call& call, Emit& onnx) {
  const Value other = times(onnx, other_operand(call, onnx), call.scalar("alpha"));
  return {onnx.sub(self_operand(call, onnx), other)};
}

Outputs rsub(const Call& call, Emit& onnx) {
  const Value self = times(onnx, self_operand(call, onnx), call.scalar("alpha"));
  return {onnx.sub(other_operand(call, onnx), self)};
}

Outputs mul(const Call& call, Emit& onnx) {
  const Value self = self_operand(call, onnx), other = other_operand(call, onnx);
  if (self.dtype() == DType::kBool) return {onnx.and_(self, other)};
  return {onnx.mul(self, other)};
}

// True division: integers become floating first, as the result's type says.
Outputs div(const Call& call, Emit& onnx) {
  return {onnx.div(self_operand(call, onnx), other_operand(call, onnx))};
}

// The larger or smaller of two, NaN where either is: ONNX Runtime's Max and Min do that for floats.
Outputs larger(const Call& call, Emit& onnx) {
  const Value self = self_operand(call, onnx), other = other_operand(call, onnx);
  if (self.dtype() == DType::kBool) return {onnx.or_(self, other)};
  return {onnx.max({self, other})};
}

Outputs smaller(const Call& call, Emit& onnx) {
  const Value self = self_operand(call, onnx), other = other_operand(call, onnx);
  if (self.dtype() == DType::kBool) return {onnx.and_(self, other)};
  return {onnx.min({self, other})};
}

constexpr Row kRows[] = {
    {"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 13, add},
    {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 13, add},
    {"aten::div.Scalar(Tensor self, Scalar other) -> Tensor", 13, div},
    {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", 13, div},
    {"aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", 13, div},
    {"aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", 13, div},
    {"aten::max.other(Tensor self, Tensor other) -> Tensor", 13, larger},
    {"aten::maximum(Tensor self, Tensor other) -> Tensor", 13, larger},
    {"aten::min.other(Tensor self, Tensor other) -> Tensor", 13, smaller},
    {"aten::minimum(Tensor self, Tensor other) -> Tensor", 13, smaller},
    {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", 13, mul},
    {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", 13, mul},
    {"aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", 13, mul},
    {"aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", 13, mul},
    {"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 13, rsub},
    {"aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 13, rsub},
    {"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 13, sub},
    {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 13, sub},
    {"aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 13, sub},
    {"aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 13, sub},
    {"aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", 13, div},
    {"aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", 13, div},
};

}  // namespace

std::span<const Row> arithmetic_rows() { return kRows; }

}  // namespace sardonyx::aten

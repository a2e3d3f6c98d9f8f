// Sums, differences, products and quotients with PyTorch's promotion.
#include "aten/elementwise/long_integers.h"
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value times(Emit& onnx, Value x, const Scalar& factor) {
  if (factor.is(1)) return x;
  // Products of bools with bools: alpha can only be true or false.
  if (x.dtype() == DType::kBool) {
    return onnx.and_(x, scalar_value(onnx, factor, DType::kBool));
  }
  return onnx.mul(x, scalar_value(onnx, factor, x.dtype()));
}

Outputs add(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  const Value term = times(onnx, other, call.scalar("alpha"));
  return {self.dtype() == DType::kBool ? onnx.or_(self, term) : onnx.add(self, term)};
}

Outputs sub(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {onnx.sub(self, times(onnx, other, call.scalar("alpha")))};
}

Outputs rsub(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {onnx.sub(other, times(onnx, self, call.scalar("alpha")))};
}

Outputs mul(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {self.dtype() == DType::kBool ? onnx.and_(self, other) : onnx.mul(self, other)};
}

// True division: integers become floating first, as the result's type says.
Outputs div(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {onnx.div(self, other)};
}

// The larger or smaller of two, NaN where either is: ONNX Runtime's Max and Min do that for floats.
Outputs larger(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {self.dtype() == DType::kBool ? onnx.or_(self, other) : larger_of(onnx, self, other)};
}

Outputs smaller(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {self.dtype() == DType::kBool ? onnx.and_(self, other) : smaller_of(onnx, self, other)};
}

constexpr Row kRows[] = {
    {"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", add},
    {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", add},
    {"aten::div.Scalar(Tensor self, Scalar other) -> Tensor", div},
    {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", div},
    {"aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", div},
    {"aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", div},
    {"aten::max.other(Tensor self, Tensor other) -> Tensor", larger},
    {"aten::maximum(Tensor self, Tensor other) -> Tensor", larger},
    {"aten::min.other(Tensor self, Tensor other) -> Tensor", smaller},
    {"aten::minimum(Tensor self, Tensor other) -> Tensor", smaller},
    {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", mul},
    {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", mul},
    {"aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", mul},
    {"aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", mul},
    {"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", rsub},
    {"aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", rsub},
    {"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", sub},
    {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", sub},
    {"aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", sub},
    {"aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", sub},
    {"aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", div},
    {"aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", div},
};

}  // namespace

std::span<const Row> arithmetic_rows() { return kRows; }

}  // namespace sardonyx::aten

// Comparisons, in the type that PyTorch compares in.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Pair operands(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return call.argument("other").get<program::Value*>() ? promoted(onnx, self, call.tensor("other"))
                                                       : promoted(onnx, self, call.scalar("other"));
}

// False < true: ONNX has no order of bools.
Pair ordered(const Call& call, Emit& onnx) {
  Pair pair = operands(call, onnx);
  if (pair.left.dtype() != DType::kBool) return pair;
  return {onnx.cast(pair.left, DType::kInt32), onnx.cast(pair.right, DType::kInt32)};
}

Outputs eq(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  return {onnx.equal(pair.left, pair.right)};
}

// NaN differs from everything: the negation of Equal says so.
Outputs ne(const Call& call, Emit& onnx) { return {onnx.not_(eq(call, onnx).front())}; }

Outputs lt(const Call& call, Emit& onnx) {
  const Pair pair = ordered(call, onnx);
  return {onnx.less(pair.left, pair.right)};
}

Outputs le(const Call& call, Emit& onnx) {
  const Pair pair = ordered(call, onnx);
  return {onnx.less_or_equal(pair.left, pair.right)};
}

Outputs gt(const Call& call, Emit& onnx) {
  const Pair pair = ordered(call, onnx);
  return {onnx.greater(pair.left, pair.right)};
}

Outputs ge(const Call& call, Emit& onnx) {
  const Pair pair = ordered(call, onnx);
  return {onnx.greater_or_equal(pair.left, pair.right)};
}

constexpr Row kRows[] = {
    {"aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", eq},
    {"aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", eq},
    {"aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", ge},
    {"aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", ge},
    {"aten::greater.Scalar(Tensor self, Scalar other) -> Tensor", gt},
    {"aten::greater.Tensor(Tensor self, Tensor other) -> Tensor", gt},
    {"aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", ge},
    {"aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", ge},
    {"aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", gt},
    {"aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", gt},
    {"aten::le.Scalar(Tensor self, Scalar other) -> Tensor", le},
    {"aten::le.Tensor(Tensor self, Tensor other) -> Tensor", le},
    {"aten::less.Scalar(Tensor self, Scalar other) -> Tensor", lt},
    {"aten::less.Tensor(Tensor self, Tensor other) -> Tensor", lt},
    {"aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor", le},
    {"aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor", le},
    {"aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", lt},
    {"aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", lt},
    {"aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", ne},
    {"aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", ne},
    {"aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor", ne},
    {"aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor", ne},
};

}  // namespace

std::span<const Row> comparison_rows() { return kRows; }

}  // namespace sardonyx::aten

// Logic on truth values and bitwise operators on integers.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value truth(Emit& onnx, Value x) { return onnx.cast(x, DType::kBool); }

Outputs logical_and(const Call& call, Emit& onnx) {
  return {onnx.and_(truth(onnx, call.tensor("self")), truth(onnx, call.tensor("other")))};
}

Outputs logical_or(const Call& call, Emit& onnx) {
  return {onnx.or_(truth(onnx, call.tensor("self")), truth(onnx, call.tensor("other")))};
}

Outputs logical_xor(const Call& call, Emit& onnx) {
  return {onnx.xor_(truth(onnx, call.tensor("self")), truth(onnx, call.tensor("other")))};
}

Outputs logical_not(const Call& call, Emit& onnx) {
  return {onnx.not_(truth(onnx, call.tensor("self")))};
}

Outputs bitwise_and(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  if (pair.left.dtype() == DType::kBool) return {onnx.and_(pair.left, pair.right)};
  return {onnx.bitwise_and(pair.left, pair.right)};
}

Outputs bitwise_or(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  if (pair.left.dtype() == DType::kBool) return {onnx.or_(pair.left, pair.right)};
  return {onnx.bitwise_or(pair.left, pair.right)};
}

Outputs bitwise_xor(const Call& call, Emit& onnx) {
  const Pair pair = operands(call, onnx);
  if (pair.left.dtype() == DType::kBool) return {onnx.xor_(pair.left, pair.right)};
  return {onnx.bitwise_xor(pair.left, pair.right)};
}

Outputs bitwise_not(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.dtype() == DType::kBool) return {onnx.not_(self)};
  return {onnx.bitwise_not(self)};
}

constexpr Row kRows[] = {
    {"aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor", bitwise_and},
    {"aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor", bitwise_and},
    {"aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor", bitwise_or},
    {"aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor", bitwise_or},
    {"aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor", bitwise_xor},
    {"aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor", bitwise_xor},
    {"aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", bitwise_and},
    {"aten::bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", bitwise_and},
    {"aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", bitwise_and},
    {"aten::bitwise_not(Tensor self) -> Tensor", bitwise_not},
    {"aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", bitwise_or},
    {"aten::bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", bitwise_or},
    {"aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", bitwise_or},
    {"aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor", bitwise_xor},
    {"aten::bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", bitwise_xor},
    {"aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", bitwise_xor},
    {"aten::logical_and(Tensor self, Tensor other) -> Tensor", logical_and},
    {"aten::logical_not(Tensor self) -> Tensor", logical_not},
    {"aten::logical_or(Tensor self, Tensor other) -> Tensor", logical_or},
    {"aten::logical_xor(Tensor self, Tensor other) -> Tensor", logical_xor},
};

}  // namespace

std::span<const Row> logical_rows() { return kRows; }

}  // namespace sardonyx::aten

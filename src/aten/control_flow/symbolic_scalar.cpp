// Scalars out of tensors: sizes, which are expressions and need no node, and elements.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The captured result is an expression; a size is emitted where it is used.
Outputs size(const Call& /*call*/, Emit& /*onnx*/) { return {}; }

// item(): the one element as a 0-d tensor, in the type that symbolic scalars have.
Outputs item(const Call& call, Emit& onnx) {
  if (!call.uses_output(0)) return {};
  const Value element = onnx.reshape(call.tensor("self"), std::initializer_list<Expr>{});
  switch (call.captured().outputs[0]->kind) {
    case program::ValueKind::kFloat:
      return {onnx.cast(element, DType::kFloat64)};
    case program::ValueKind::kBool:
      return {onnx.cast(element, DType::kBool)};
    default:
      return {onnx.cast(element, DType::kInt64)};
  }
}

constexpr Row kRows[] = {
    {"aten::_local_scalar_dense(Tensor self) -> Scalar", item},
    {"aten::item(Tensor self) -> Scalar", item},
    {"aten::sym_numel(Tensor self) -> SymInt", size},
    {"aten::sym_size(Tensor self) -> SymInt[]", size},
    {"aten::sym_size.int(Tensor self, int dim) -> SymInt", size},
    {"aten::sym_storage_offset(Tensor self) -> SymInt", size},
    {"aten::sym_stride(Tensor self) -> SymInt[]", size},
    {"aten::sym_stride.int(Tensor self, int dim) -> SymInt", size},
};

}  // namespace

std::span<const Row> symbolic_scalar_rows() { return kRows; }

}  // namespace sardonyx::aten

#include "passes/rules/reshape/reshaped_dims.h"

namespace sardonyx::passes {

std::vector<std::int64_t> dims_for_reshape(std::span<const symbolic::Expr> shape) {
  std::vector<std::int64_t> dims;
  bool one_is_open = false;
  for (const symbolic::Expr& size : shape) {
    if (!size.is_constant()) {
      if (one_is_open) return {};
      one_is_open = true;
    } else if (size.value() <= 0) {
      return {};
    }
    dims.push_back(size.is_constant() ? size.value() : -1);
  }
  return dims;
}

std::vector<std::int64_t> dims_for_reshape(const onnx::ValueInfo* value) {
  if (!value->has_rank) return {};
  return dims_for_reshape(value->shape);
}

}  // namespace sardonyx::passes

// The types of what a call gives, from its arguments: for captures that do not say.
#pragma once

#include <optional>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::program {

struct TensorType {
  base::DType dtype = base::DType::kUndefined;
  std::vector<symbolic::Expr> shape;
  std::vector<symbolic::Expr> strides;  // in elements; empty means contiguous
};

// One for each tensor that the call gives, lists flattened; nothing where there is no rule for the
// operator. Data-dependent sizes, and those that could be broadcast either way, are new unbacked
// symbols. Throws SX1208 where the arguments do not fit each other, as PyTorch would.
std::optional<std::vector<TensorType>> infer_result_types(const Schema& schema,
                                                          const std::vector<Argument>& arguments,
                                                          symbolic::Pool& pool);

}  // namespace sardonyx::program

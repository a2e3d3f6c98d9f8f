// What Reshape is asked for, where sizes are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// With -1 for the one size that is not known, if any; empty where there are more, or where one is
// 0, with which -1 would be no number.
std::vector<std::int64_t> dims_for_reshape(std::span<const symbolic::Expr> shape);
// The same of a value; empty where its rank is not known.
std::vector<std::int64_t> dims_for_reshape(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes

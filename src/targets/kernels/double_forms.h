// float64 where a runtime has float32 kernels only.
#pragma once

#include <optional>
#include <span>

#include "targets/rule.h"

namespace sardonyx::targets {

// The operator on float64 inputs by operators that have float64 kernels, to within a few units in
// the last place; absent when there is no such form.
Value in_double(onnx::Emit& onnx, const onnx::Operator& op, std::span<const Value> inputs,
                std::span<const Attribute> attributes);

}  // namespace sardonyx::targets

// float64 where ONNX Runtime has float32 kernels only.
#pragma once

#include <optional>
#include <span>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// The operator on float64 inputs by operators that have float64 kernels, to within a few units in
// the last place; absent when there is no such form.
Value in_double(Emit& onnx, const Operator& op, std::span<const Value> inputs,
                std::span<const Attribute> attributes);

}  // namespace sardonyx::onnx

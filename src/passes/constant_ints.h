// Integers that a constant holds: axes, places and counts that rules ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// Nothing where the value is no constant of integers, or is null.
inline std::optional<std::vector<std::int64_t>> constant_ints(const onnx::ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr) return std::nullopt;
  return value->constant->ints();
}

// The only one of them.
inline std::optional<std::int64_t> known_int(const onnx::ValueInfo* value) {
  const auto ints = constant_ints(value);
  return ints && ints->size() == 1 ? std::optional(ints->front()) : std::nullopt;
}

}  // namespace sardonyx::passes

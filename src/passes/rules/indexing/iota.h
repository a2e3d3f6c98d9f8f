// Ranges that indices are made of.
#pragma once

#include <cstdint>
#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// A tensor whose elements count 0, 1, 2, ... along one axis and are the same along the others.
struct Iota {
  std::int64_t axis;  // from the front
  const onnx::Node* range;
  symbolic::Expr size;
};

// Of a Range that is spread over axes by Unsqueeze and Expand.
std::optional<Iota> iota_of(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes

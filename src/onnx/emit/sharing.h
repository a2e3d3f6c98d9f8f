// When two nodes compute the same.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "onnx/graph/value.h"
#include "onnx/operators/operator.h"

namespace sardonyx::onnx {

// What two nodes that compute the same have in common; empty for nodes that are never shared.
std::string sharing_key(const Operator& op, std::span<const Value> inputs,
                        std::span<const Attribute> attributes, std::size_t outputs);

}  // namespace sardonyx::onnx

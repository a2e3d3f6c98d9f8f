// Which nodes of two models are the same, and in what they differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "viewer/groups.h"

namespace sardonyx::viewer {

enum class NodeState : std::uint8_t { kOnlyHere, kSame, kChanged };

struct Alignment {
  std::vector<std::int32_t> b_of_a, a_of_b;  // -1: the other model has none
  std::vector<NodeState> state_a, state_b;
  std::map<std::int32_t, std::vector<std::string>> changes;  // of nodes of a, as text
};

// Nodes go together by name, then by the name of an output, then by module, operator and order.
Alignment aligned(const Groups& a, const Groups& b);

// Whether two tensors of one type have the same elements.
bool same_data(const onnx::Tensor& a, const onnx::Tensor& b);

}  // namespace sardonyx::viewer

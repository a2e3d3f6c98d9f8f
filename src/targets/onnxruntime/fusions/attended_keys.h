// Which keys each query attends to, as far as places decide it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx/graph/ir.h"
#include "rewriting/affine_indices.h"

namespace sardonyx::targets {

// A query attends to its own key and those before it.
struct Attended {
  std::int64_t window = -1;  // of so many of them, the last; -1: of all
  bool padded = false;       // of those that feeds.attention_mask has 1 for
};

// By the mask of an Attention of `queries` by feeds.past + queries; nothing where it says anything
// else, or more.
std::optional<Attended> attended_keys(const onnx::ValueInfo* mask, const rewriting::Feeds& feeds);

}  // namespace sardonyx::targets

// PyTorch's pytree specs in their JSON form: how the flat list of inputs or outputs was nested.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::program {

// One step from a container to a child: a key or field name, or a position.
struct PathStep {
  std::string key;           // a position as decimal digits
  bool is_position = false;  // of a tuple, list or unknown container
  std::size_t siblings = 0;  // children of that container
};

struct LeafPath {
  static constexpr std::size_t kNoCache = static_cast<std::size_t>(-1);

  std::vector<PathStep> steps;  // outermost first
  // The steps from here on lie inside a key/value cache.
  std::size_t cache_at = kNoCache;
};

// The path of every leaf, in flattened order. Empty when the text is not a spec (of protocol 1).
std::vector<LeafPath> leaf_paths(std::string_view spec);

}  // namespace sardonyx::program

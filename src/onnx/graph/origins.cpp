#include "onnx/graph/origins.h"

#include <ranges>
#include <unordered_set>

namespace sardonyx::onnx {

std::vector<const ValueInfo*> origins_of(const ValueInfo& value) {
  std::vector<const ValueInfo*> origins, left = {&value};
  // A weight may be made of another one along more paths than anybody can follow.
  std::unordered_set<const ValueInfo*> seen;
  while (!left.empty()) {
    const ValueInfo* const each = left.back();
    left.pop_back();
    if (!seen.insert(each).second) continue;
    if (each->made_of.empty()) origins.push_back(each);
    for (const ValueInfo* one : each->made_of | std::views::reverse) left.push_back(one);
  }
  return origins;
}

}  // namespace sardonyx::onnx

// Sorting that TensorRT's documentation does not list.
#include <algorithm>

#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

bool is_unsorted(const Use& use) { return use.integer("sorted", 1) == 0; }

// Before: TopK<sorted = 0>(x, k)
// After:  TopK(x, k): any order may be the sorted one
std::optional<Values> sorted(const Use& use, const Rule& rule) {
  std::vector<Attribute> attributes(use.attributes.begin(), use.attributes.end());
  std::erase_if(attributes, [](const Attribute& each) { return each.name == "sorted"; });
  return use.onnx.without(rule, use, use.inputs, std::move(attributes));
}

constexpr Rule kRows[] = {
    {.name = "greatest-in-any-order",
     .op = Op::kTopK,
     .reason = Reason::kLacks,
     .when = is_unsorted,
     .how = sorted,
     .why = "the documentation lists TopK with sorted = 1 only",
     .since = "documentation of 11.0, read"},
};

}  // namespace

Rules tensorrt_sorting_rules() { return kRows; }

}  // namespace sardonyx::targets

// Before: y = MatMul(x, a); z = MatMul(x, b), a and b being the same numbers
// After:  y = MatMul(x, a); z = MatMul(x, a)
// Exporters write a weight once for each place that reads it. Types, sizes and a few samples tell
// most weights apart; those that are left are compared where they lie, so that this takes no
// memory.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/fold/formula.h"
#include "onnx/graph/recipe.h"
#include "passes/passes.h"

namespace sardonyx::passes {
namespace {

using onnx::Tensor;
using onnx::ValueInfo;

constexpr std::size_t kSample = 16;

// Elements that can be compared as bytes.
bool is_plain(const Tensor& tensor) {
  return tensor.strings.empty() && !tensor.missing && tensor.data != nullptr &&
         tensor.is_materialized() && tensor.contiguous();
}

std::string samples(const Tensor& tensor) {
  std::string key(1, static_cast<char>(tensor.dtype));
  for (const std::int64_t dim : tensor.dims) key += std::to_string(dim) + ',';
  const auto size = static_cast<std::size_t>(tensor.byte_count());
  const std::size_t length = std::min(size, kSample);
  for (const std::size_t at : {std::size_t{0}, (size - length) / 2, size - length})
    key.append(reinterpret_cast<const char*>(tensor.data) + at, length);
  return key;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.data == b.data ||
         std::memcmp(a.data, b.data, static_cast<std::size_t>(a.byte_count())) == 0;
}

bool may_go(const ValueInfo* value) {
  return value->returns.empty() && !value->is_pinned && value->carried == nullptr &&
         onnx::has_uses(value);
}

}  // namespace

bool share_weights(onnx::Model& model) {
  std::unordered_map<std::string, std::vector<ValueInfo*>> alike;
  bool changed = false;
  for (ValueInfo* value : model.initializers) {
    if (value->names == nullptr || value->constant == nullptr || !is_plain(*value->constant))
      continue;
    std::vector<ValueInfo*>& others = alike[samples(*value->constant)];
    const auto same = std::ranges::find_if(others, [&](const ValueInfo* other) {
      return same_elements(*other->constant, *value->constant);
    });
    if (same == others.end() || !may_go(value)) {
      others.push_back(value);
      continue;
    }
    if (value->is_weight || !value->made_of.empty())
      (*same)->constant = std::make_shared<const Tensor>(
          onnx::shared_with(*(*same)->constant, onnx::without_data(onnx::recorded(*value))));
    onnx::replace_all_uses(value, *same);
    changed = true;
  }
  return changed;
}

}  // namespace sardonyx::passes

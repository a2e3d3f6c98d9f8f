#include "onnx/emit/occupied.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <vector>

#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

constexpr std::size_t kMaxVisitedNodes = 64;

bool has_windows(const Node* node) {
  return node->is(Op::kConv) || node->is(Op::kConvTranspose) || node->is(Op::kMaxPool) ||
         node->is(Op::kAveragePool) || node->is(Op::kLpPool);
}

bool is_of(const ValueInfo* image, symbolic::Expr size) {
  if (image == nullptr || !image->has_rank || image->shape.size() < 3) return false;
  const auto sizes = std::span(image->shape).subspan(2);
  return std::ranges::find(sizes, size) != sizes.end() ||
         (std::ranges::all_of(sizes, &symbolic::Expr::known) && symbolic::product(sizes) == size);
}

}  // namespace

bool is_of_windows(const ValueInfo* x, symbolic::Expr size) {
  if (!size.known()) return false;
  std::vector<const Node*> waiting;
  std::unordered_set<const Node*> seen;
  const auto wait = [&](const ValueInfo* value) {
    if (value != nullptr && value->producer != nullptr && seen.size() < kMaxVisitedNodes &&
        seen.insert(value->producer).second)
      waiting.push_back(value->producer);
  };
  wait(x);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const Node* node = waiting[i];
    if (has_windows(node) && is_of(node->output(), size)) return true;
    for (const ValueInfo* input : node->inputs) wait(input);
  }
  return false;
}

}  // namespace sardonyx::onnx

#include "passes/rules/indexing/iota.h"

#include <vector>

#include "onnx/gen/op.h"
#include "onnx/graph/tensor.h"
#include "onnx/graph/value.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Value;
using onnx::ValueInfo;
using symbolic::Expr;

bool is_int(const ValueInfo* value, std::int64_t number) {
  if (value == nullptr || value->constant == nullptr) return false;
  const auto ints = Value(const_cast<ValueInfo*>(value)).ints();
  return ints && ints->size() == 1 && ints->front() == number;
}

std::optional<Iota> through_unsqueeze(const Node* node) {
  const auto inner = iota_of(node->input(0));
  const ValueInfo* axes_input = node->input(1);
  const auto axes = axes_input != nullptr && axes_input->constant != nullptr
                        ? axes_input->constant->ints()
                        : std::nullopt;
  if (!inner || !axes || !node->input(0)->has_rank) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(node->input(0)->shape.size() + axes->size());
  std::vector<bool> added(static_cast<std::size_t>(rank), false);
  for (std::int64_t axis : *axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    added[static_cast<std::size_t>(axis)] = true;
  }
  std::int64_t seen = 0;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (added[static_cast<std::size_t>(axis)]) continue;
    if (seen++ == inner->axis) return Iota{axis, inner->range, inner->size};
  }
  return std::nullopt;
}

std::optional<Iota> through_expand(const Node* node) {
  auto inner = iota_of(node->input(0));
  const ValueInfo *from = node->input(0), *to = node->output();
  if (!inner || !from->has_rank || !to->has_rank || to->shape.size() < from->shape.size())
    return std::nullopt;
  inner->axis += static_cast<std::int64_t>(to->shape.size() - from->shape.size());
  // A count of one element that is spread out is no count any more.
  const Expr size = to->shape[static_cast<std::size_t>(inner->axis)];
  if (!size.known() || !(size == inner->size)) return std::nullopt;
  return inner;
}

}  // namespace

std::optional<Iota> iota_of(const ValueInfo* value) {
  const Node* node = value == nullptr ? nullptr : value->producer;
  if (node == nullptr) return std::nullopt;
  if (node->is(Op::kRange)) {
    if (!is_int(node->input(0), 0) || !is_int(node->input(2), 1) || !value->has_rank ||
        value->shape.size() != 1 || !value->shape[0].known())
      return std::nullopt;
    return Iota{0, node, value->shape[0]};
  }
  if (node->is(Op::kUnsqueeze)) return through_unsqueeze(node);
  if (node->is(Op::kExpand)) return through_expand(node);
  return std::nullopt;
}

}  // namespace sardonyx::passes

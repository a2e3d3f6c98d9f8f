#include "passes/rules/attention/heads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;
using rewriting::made_by;

bool is_known(const ValueInfo* value, std::size_t rank) {
  if (value == nullptr || !value->has_rank || value->shape.size() != rank) return false;
  return std::ranges::all_of(value->shape, [](symbolic::Expr dim) { return dim.known(); });
}

bool swaps_length_and_heads(const Node* transpose) {
  const std::vector<std::int64_t>* order = transpose->ints("perm");
  return order != nullptr && *order == std::vector<std::int64_t>{0, 2, 1, 3};
}

bool swaps_first_two(const Node* transpose, std::size_t rank) {
  const std::vector<std::int64_t>* order = transpose->ints("perm");
  if (order == nullptr || order->size() != rank || rank < 2) return false;
  std::vector<std::int64_t> sorted = *order;
  std::swap(sorted[0], sorted[1]);
  return (*order)[0] == 1 && std::ranges::is_sorted(sorted);
}

namespace {

// One head of [batch, length, size].
std::optional<Heads> one_head_of(const ValueInfo* value) {
  const Node* unsqueeze = made_by(value, Op::kUnsqueeze);
  if (unsqueeze == nullptr || !is_known(unsqueeze->input(0), 3)) return std::nullopt;
  const Shape& joined = unsqueeze->input(0)->shape;
  if (!(value->shape == Shape{joined[0], 1, joined[1], joined[2]})) return std::nullopt;
  return Heads{unsqueeze->input(0), 1, false};
}

}  // namespace

std::optional<Heads> heads_of(const ValueInfo* value) {
  if (const auto found = one_head_of(value)) return found;
  const Node* transpose = made_by(value, Op::kTranspose);
  const auto* order = transpose == nullptr ? nullptr : transpose->ints("perm");
  if (order == nullptr) return std::nullopt;
  const bool length_first = *order == std::vector<std::int64_t>{1, 2, 0, 3};
  if (!length_first && !swaps_length_and_heads(transpose)) return std::nullopt;
  const Node* reshape = made_by(transpose->input(0), Op::kReshape);
  if (reshape == nullptr) return std::nullopt;
  ValueInfo* const joined = reshape->input(0);
  if (!is_known(joined, 3) || !is_known(reshape->output(), 4)) return std::nullopt;
  const Shape &from = joined->shape, &to = reshape->output()->shape;
  if (!(from[0] == to[0]) || !(from[1] == to[1]) || !to[2].is_constant() || !to[3].is_constant())
    return std::nullopt;
  return Heads{joined, to[2].value(), length_first};
}

bool is_alike_for_all(const ValueInfo* mask) {
  if (mask == nullptr) return true;
  if (!mask->has_rank || mask->is_disputed) return false;
  for (std::size_t i = 0; i + 2 < mask->shape.size(); ++i)
    if (!mask->shape[i].is(1)) return false;
  return true;
}

}  // namespace sardonyx::passes

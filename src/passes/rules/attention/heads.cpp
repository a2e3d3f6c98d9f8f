#include "passes/rules/attention/heads.h"

#include <algorithm>
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

std::optional<Heads> heads_of(const ValueInfo* value) {
  const Node* transpose = made_by(value, Op::kTranspose);
  if (transpose == nullptr || !swaps_length_and_heads(transpose)) return std::nullopt;
  const Node* reshape = made_by(transpose->input(0), Op::kReshape);
  if (reshape == nullptr) return std::nullopt;
  ValueInfo* const joined = reshape->input(0);
  if (!is_known(joined, 3) || !is_known(reshape->output(), 4)) return std::nullopt;
  const Shape &from = joined->shape, &to = reshape->output()->shape;
  if (!(from[0] == to[0]) || !(from[1] == to[1]) || !to[2].is_constant() || !to[3].is_constant())
    return std::nullopt;
  return Heads{joined, to[2].value()};
}

}  // namespace sardonyx::passes

// Before: y = Reshape(Transpose<[0, 2, 1, 3]>(Attention(heads(q), heads(k), heads(v), mask)), ...)
//         heads(x) = Transpose<[0, 2, 1, 3]>(Reshape(x, [batch, length, heads, size]))
// After:  y = Attention<q_num_heads, kv_num_heads>(q, k, v, mask)
// The operator takes the heads side by side as well as apart, and gives them back as it got them.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

bool swaps_length_and_heads(const Node* transpose) {
  const std::vector<std::int64_t>* order = transpose->ints("perm");
  return order != nullptr && *order == std::vector<std::int64_t>{0, 2, 1, 3};
}

bool is_known(const ValueInfo* value, std::size_t rank) {
  if (!value->has_rank || value->shape.size() != rank) return false;
  return std::ranges::all_of(value->shape, [](symbolic::Expr dim) { return dim.known(); });
}

struct Heads {
  ValueInfo* joined;   // [batch, length, heads * size]
  std::int64_t count;  // heads
};

// Of [batch, heads, length, size] that was made of them side by side.
std::optional<Heads> heads_of(const ValueInfo* value) {
  const Node* transpose = value == nullptr ? nullptr : made_by(value, Op::kTranspose);
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

// What gives the heads of the result back side by side; null where nothing does.
Node* joining(const ValueInfo* result) {
  if (!used_once(result)) return nullptr;
  const Node* transpose = result->uses.front().node;
  if (!transpose->is(Op::kTranspose) || !swaps_length_and_heads(transpose) ||
      !used_once(transpose->output()))
    return nullptr;
  Node* const reshape = transpose->output()->uses.front().node;
  return reshape->is(Op::kReshape) ? reshape : nullptr;
}

bool join(Node* attention, RuleContext& context) {
  if (attention->inputs.size() < 3 || attention->output() == nullptr) return false;
  const auto q = heads_of(attention->input(0)), k = heads_of(attention->input(1)),
             v = heads_of(attention->input(2));
  if (!q || !k || !v) return false;
  Node* const last = joining(attention->output());
  if (last == nullptr) return context.decline(attention, "its result is read with the heads apart");
  if (k->count != v->count)
    return context.decline(attention, "keys and values are not of as many heads");

  std::vector<ValueInfo*> inputs = attention->inputs;
  inputs[0] = q->joined, inputs[1] = k->joined, inputs[2] = v->joined;
  std::vector<onnx::Attribute> attributes = attention->attributes;
  attributes.push_back({"q_num_heads", q->count, {}});
  attributes.push_back({"kv_num_heads", k->count, {}});
  // What is read of a cache may be read before the heads are joined.
  Patch patch(context, attention->outputs.size() > 1 ? attention : last);
  const std::vector<ValueInfo*> results = patch.nodes(
      Op::kAttention, inputs, attributes, attention->output()->name, attention->outputs.size());
  if (!patch.failed()) {
    ValueInfo* const joined = results[0];
    const bool same = joined->shape == last->output()->shape;
    // Rows of a matrix, say: they need no heads either.
    patch.replace(last->output(), same ? joined
                                       : patch.node(Op::kReshape, {joined, last->input(1)},
                                                    last->attributes, last->output()->name));
    for (std::size_t i = 1; i < results.size(); ++i)
      if (attention->output(i) != nullptr) patch.replace(attention->output(i), results[i]);
  }
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const Rule kJoinAttentionHeads = {"join-attention-heads", kRoots, join, 23};

}  // namespace sardonyx::passes

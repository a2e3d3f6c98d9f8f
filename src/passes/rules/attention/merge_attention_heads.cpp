// Before: y = Reshape(Transpose<[0, 2, 1, 3]>(Attention(heads(q), heads(k), heads(v), mask)), ...)
//         heads(x) = Transpose<[0, 2, 1, 3]>(Reshape(x, [batch, length, heads, size]))
// After:  y = Attention<q_num_heads, kv_num_heads>(q, k, v, mask)
// The operator takes the heads side by side as well as apart, and gives them back as it got them.
// Before: y = Reshape(Transpose<[2, 0, 1, 3]>(Attention(heads(q), heads(k), heads(v), mask)), ...)
//         heads(x) = Transpose<[1, 2, 0, 3]>(Reshape(x, [length, batch, heads, size]))
// After:  y = swapped(Attention<q_num_heads, kv_num_heads>(swapped(q), swapped(k), swapped(v),
// mask))
//         swapped(x) = Transpose<[1, 0, 2]>(x)
// as torch's MultiheadAttention has it, whatever comes first outside of it.
#include <optional>
#include <utility>
#include <vector>

#include "passes/rules/attention/heads.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

struct Joining {
  Node* reshape = nullptr;
  bool length_first = false;
};

// What gives the heads of the result back side by side; nothing where that is not done.
std::optional<Joining> joining(const ValueInfo* result) {
  if (!used_once(result)) return std::nullopt;
  const Node* transpose = result->uses.front().node;
  if (!transpose->is(Op::kTranspose) || !used_once(transpose->output())) return std::nullopt;
  const auto* order = transpose->ints("perm");
  const bool length_first = order != nullptr && *order == std::vector<std::int64_t>{2, 0, 1, 3};
  if (!length_first && !swaps_length_and_heads(transpose)) return std::nullopt;
  Node* const reshape = transpose->output()->uses.front().node;
  return reshape->is(Op::kReshape) ? std::optional(Joining{reshape, length_first}) : std::nullopt;
}

ValueInfo* swapped(ValueInfo* value, Patch& patch) {
  return patch.node(Op::kTranspose, {value}, {{"perm", std::vector<std::int64_t>{1, 0, 2}, {}}},
                    value == nullptr ? "" : value->name + "_swapped");
}

bool join(Node* attention, RuleContext& context) {
  if (attention->inputs.size() < 3 || attention->output() == nullptr) return false;
  const auto q = heads_of(attention->input(0)), k = heads_of(attention->input(1)),
             v = heads_of(attention->input(2));
  if (!q || !k || !v) return false;
  const std::optional<Joining> joined_by = joining(attention->output());
  if (!joined_by) return context.decline(attention, "its result is read with the heads apart");
  Node* const last = joined_by->reshape;
  if (k->count != v->count)
    return context.decline(attention, "keys and values are not of as many heads");

  std::vector<onnx::Attribute> attributes = attention->attributes;
  attributes.push_back({"q_num_heads", q->count, {}});
  attributes.push_back({"kv_num_heads", k->count, {}});
  // What is read of a cache may be read before the heads are joined.
  Patch patch(context, attention->outputs.size() > 1 ? attention : last);
  std::vector<ValueInfo*> inputs = attention->inputs;
  for (const auto& [index, heads] : {std::pair(0U, *q), std::pair(1U, *k), std::pair(2U, *v)})
    inputs[index] = heads.length_first ? swapped(heads.joined, patch) : heads.joined;
  const std::vector<ValueInfo*> results = patch.nodes(
      Op::kAttention, inputs, attributes, attention->output()->name, attention->outputs.size());
  if (!patch.failed()) {
    ValueInfo* const joined = joined_by->length_first ? swapped(results[0], patch) : results[0];
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

const Rule kMergeAttentionHeads = {"merge-attention-heads", kRoots, join, 23};

}  // namespace sardonyx::passes

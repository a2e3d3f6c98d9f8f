// Before: y = Reshape(Transpose<[0, 2, 1, 3]>(Attention(heads(q), heads(k), heads(v), mask)), ...)
//         heads(x) = Transpose<[0, 2, 1, 3]>(Reshape(x, [batch, length, heads, size]))
// After:  y = Attention<q_num_heads, kv_num_heads>(q, k, v, mask)
// The operator takes the heads side by side as well as apart, and gives them back as it got them.
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

// Before: y = Reshape(Attention<q_num_heads = 1>(r(q), r(k), r(v), mask), [b, h, s, d])
//         r(x) = Reshape(x, [b * h, s, d])
// After:  y = Attention(q, k, v, mask)
// with x: [b, h, s, d]. Heads that were counted as batches, `(b h) n d`, are heads again.
#include <algorithm>
#include <cstddef>
#include <string>
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
using onnx::Shape;
using onnx::ValueInfo;

bool counts_heads_as_batches(const ValueInfo* apart, const ValueInfo* together) {
  if (!is_known(apart, 4) || !is_known(together, 3)) return false;
  const Shape& x = apart->shape;
  return together->shape == Shape{x[0] * x[1], x[2], x[3]};
}

// With the heads on an axis of their own; null where they never were.
ValueInfo* before_counting(const ValueInfo* value) {
  const Node* reshape = made_by(value, Op::kReshape);
  const bool found = reshape != nullptr && counts_heads_as_batches(reshape->input(0), value);
  return found ? reshape->input(0) : nullptr;
}

bool part(Node* attention, RuleContext& context) {
  if (attention->inputs.size() < 3 || attention->inputs.size() > 4 ||
      attention->outputs.size() != 1 || attention->int_or("q_num_heads", 0) != 1 ||
      attention->int_or("kv_num_heads", 0) != 1)
    return false;
  std::vector<ValueInfo*> inputs = attention->inputs;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
    if ((inputs[i] = before_counting(inputs[i])) == nullptr) return false;
  const Shape& q = inputs[0]->shape;
  for (const ValueInfo* each : {inputs[1], inputs[2]})
    if (!(each->shape[0] == q[0]) || !(each->shape[1] == q[1]))
      return context.decline(attention, "queries, keys and values are not of as many heads");
  const ValueInfo* together = attention->output();
  Node* const last = used_once(together) ? together->uses.front().node : nullptr;
  if (last == nullptr || !last->is(Op::kReshape) ||
      !counts_heads_as_batches(last->output(), together) || !(last->output()->shape[1] == q[1]))
    return context.decline(attention, "its result is read with the heads as batches");
  if (!is_alike_for_all(attention->input(3)))
    return context.decline(attention, "its mask is another one for each head");

  std::vector<onnx::Attribute> attributes = attention->attributes;
  std::erase_if(attributes, [](const onnx::Attribute& each) {
    return each.name == "q_num_heads" || each.name == "kv_num_heads";
  });
  Patch patch(context, last);
  patch.replace(last->output(), patch.node(Op::kAttention, std::move(inputs), std::move(attributes),
                                           last->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const Rule kSplitHeadsFromBatches = {"split-heads-from-batches", kRoots, part, 23};

}  // namespace sardonyx::passes

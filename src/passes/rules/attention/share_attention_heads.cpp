// Before: y = Attention(q, repeated(k), repeated(v), mask)
//         repeated(x) = Reshape(Expand(Unsqueeze(x, [2]), [1, 1, group, 1, 1]),
//                               [batch, heads * group, length, size])
//         or Gather<axis = 1>(x, [0, 0, 1, 1, ...])
//         or Expand(x, [1, heads, 1, 1]) of one head
// After:  y = Attention(q, k, v, mask)
// The operator has groups of query heads share a head of keys and values: nothing is repeated.
#include "passes/rules/attention/repeated_heads.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool share(Node* attention, RuleContext& context) {
  if (attention->inputs.size() < 3 || attention->outputs.size() > 1) return false;
  ValueInfo* const key = before_repetition(attention->input(1));
  ValueInfo* const value = before_repetition(attention->input(2));
  if (key == nullptr || value == nullptr) return false;
  if (attention->input(4) != nullptr || attention->input(5) != nullptr)
    return context.decline(attention, "its cache has the heads that were repeated");
  if (!(key->shape[1] == value->shape[1]))
    return context.decline(attention, "keys and values are not of as many heads");
  Patch patch(context, attention);
  patch.set_input(attention, 1, key);
  patch.set_input(attention, 2, value);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const Rule kShareAttentionHeads = {"share-attention-heads", kRoots, share, 23};

}  // namespace sardonyx::passes

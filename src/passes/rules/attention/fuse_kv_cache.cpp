// Before: k = Concat<axis = 2>(past_k, new_k); v = Concat<axis = 2>(past_v, new_v)
//         y = Attention(q, k, v, mask)
// After:  y, k, v = Attention(q, new_k, new_v, mask, past_k, past_v)
// With the cache in its hands, a runtime can write the new keys behind the old ones.
#include <algorithm>
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

// Past and new keys, or values, one after the other; null where they are not.
const Node* grown(const ValueInfo* value) {
  const Node* concat = made_by(value, Op::kConcat);
  if (concat == nullptr || concat->inputs.size() != 2 || !is_known(value, 4)) return nullptr;
  const std::int64_t axis = concat->int_or("axis", 0);
  if (axis != 2 && axis != -2) return nullptr;
  return is_known(concat->input(0), 4) && is_known(concat->input(1), 4) ? concat : nullptr;
}

// Nothing but a graph output, or what stands behind the node, reads the value.
bool is_read_behind(const ValueInfo* value, const Node* node) {
  return std::ranges::all_of(value->uses, [node](const onnx::Use& use) {
    const Node* reader = onnx::ancestor_in(node->graph, use.node);
    return reader != nullptr && (reader == node || onnx::precedes(node, reader));
  });
}

bool give_cache(Node* attention, RuleContext& context) {
  if (attention->inputs.size() < 3 || attention->outputs.size() > 1) return false;
  const Node *key = grown(attention->input(1)), *value = grown(attention->input(2));
  if (key == nullptr || value == nullptr || key == value) return false;
  if (attention->input(4) != nullptr || attention->input(6) != nullptr) return false;
  // Places would be counted from the end of the cache.
  const bool by_place = attention->int_or("is_causal", 0) != 0 ||
                        attention->int_or("left_window_size", -1) >= 0 ||
                        attention->int_or("right_window_size", -1) >= 0;
  if (by_place)
    return context.decline(attention, "its queries are counted from the beginning of the cache");
  // Where there are as many keys as values, so there are in the cache.
  if (!(key->input(1)->shape[2] == value->input(1)->shape[2]))
    return context.decline(attention, "it is not known that as many keys as values are new");
  if (!is_read_behind(key->output(), attention) || !is_read_behind(value->output(), attention))
    return context.decline(attention, "what is before it reads the longer keys or values");

  std::vector<ValueInfo*> inputs = attention->inputs;
  inputs.resize(6, nullptr);
  inputs[1] = key->input(1), inputs[2] = value->input(1);
  inputs[4] = key->input(0), inputs[5] = value->input(0);
  Patch patch(context, attention);
  const std::vector<ValueInfo*> results = patch.nodes(
      Op::kAttention, std::move(inputs), attention->attributes, attention->output()->name, 3);
  if (!patch.failed()) {
    patch.replace(attention->output(), results[0]);
    patch.replace(key->output(), results[1]);
    patch.replace(value->output(), results[2]);
  }
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const Rule kFuseKvCache = {"fuse-kv-cache", kRoots, give_cache, 23};

}  // namespace sardonyx::passes

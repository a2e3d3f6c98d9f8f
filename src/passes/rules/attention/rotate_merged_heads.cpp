// Before: y = RotaryEmbedding(heads(x), cos, sin)
//         heads(x) = Transpose<[0, 2, 1, 3]>(Reshape(x, [batch, length, heads, size]))
// After:  y = heads(RotaryEmbedding<num_heads = heads>(x, cos, sin))
// Attention then takes the heads side by side as well: see merge-attention-heads. Heads that were
// normalized one by one are put side by side for it.
#include <cstdint>
#include <string>
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

std::vector<onnx::Attribute> attributes_for(const Node* rotation, std::int64_t heads) {
  std::vector<onnx::Attribute> attributes = rotation->attributes;
  std::erase_if(attributes, [](const onnx::Attribute& each) { return each.name == "num_heads"; });
  attributes.push_back({"num_heads", heads, {}});
  return attributes;
}

// The Transpose behind heads that were normalized one by one, with nothing else reading them.
const Node* behind_normalization(const ValueInfo* given) {
  const Node* transpose = made_by(given, Op::kTranspose);
  if (transpose == nullptr || !swaps_length_and_heads(transpose) || !used_once(given))
    return nullptr;
  const ValueInfo* apart = transpose->input(0);
  const bool normalized = made_by(apart, Op::kRMSNormalization) != nullptr ||
                          made_by(apart, Op::kLayerNormalization) != nullptr;
  if (!normalized || !used_once(apart) || !is_known(apart, 4)) return nullptr;
  return apart->shape[2].is_constant() && apart->shape[3].is_constant() ? transpose : nullptr;
}

// Side by side for the embedding alone; what takes them so, too, then leaves the rest out.
bool rotate_normalized(Node* rotation, RuleContext& context) {
  const Node* transpose = behind_normalization(rotation->input(0));
  if (transpose == nullptr) return false;
  ValueInfo* const apart = transpose->input(0);
  const std::int64_t heads = apart->shape[2].value(), size = apart->shape[3].value();
  const std::string& name = rotation->output()->name;
  Patch patch(context, rotation);
  std::vector<ValueInfo*> inputs = rotation->inputs;
  inputs[0] = patch.node(Op::kReshape, {apart, patch.ints({0, 0, heads * size})}, {}, name);
  ValueInfo* const turned =
      patch.node(Op::kRotaryEmbedding, inputs, attributes_for(rotation, heads), name);
  ValueInfo* const split =
      patch.node(Op::kReshape, {turned, patch.ints({0, 0, heads, size})}, {}, name);
  patch.replace(rotation->output(),
                patch.node(Op::kTranspose, {split}, transpose->attributes, name));
  return patch.apply();
}

bool rotate(Node* rotation, RuleContext& context) {
  const ValueInfo* given = rotation->input(0);
  if (rotation->output() == nullptr || !rotation->output()->returns.empty()) return false;
  const auto heads = heads_of(given);
  if (!heads || heads->length_first) return rotate_normalized(rotation, context);
  if (!used_once(given) || !used_once(given->producer->input(0)))
    return context.decline(rotation, "something else reads the heads before they are turned");
  const Node *transpose = given->producer, *reshape = transpose->input(0)->producer;
  std::vector<ValueInfo*> inputs = rotation->inputs;
  inputs[0] = heads->joined;
  const std::string& name = rotation->output()->name;
  Patch patch(context, rotation);
  ValueInfo* const turned =
      patch.node(Op::kRotaryEmbedding, inputs, attributes_for(rotation, heads->count), name);
  ValueInfo* const apart =
      patch.node(Op::kReshape, {turned, reshape->input(1)}, reshape->attributes, name);
  patch.replace(rotation->output(),
                patch.node(Op::kTranspose, {apart}, transpose->attributes, name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kRotaryEmbedding};

}  // namespace

const Rule kRotateMergedHeads = {"rotate-merged-heads", kRoots, rotate, 23};

}  // namespace sardonyx::passes

// Before: y = RotaryEmbedding(Transpose<[0, 2, 1, 3]>(Reshape(x, [batch, length, heads, size])),
// ...) After:  y = Transpose<[0, 2, 1, 3]>(Reshape(RotaryEmbedding<num_heads = heads>(x, ...),
// ...)) Attention then takes the heads side by side as well: see join-attention-heads.
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

bool rotate(Node* rotation, RuleContext& context) {
  const ValueInfo* given = rotation->input(0);
  if (rotation->output() == nullptr || !rotation->output()->returns.empty()) return false;
  const auto heads = heads_of(given);
  if (!heads) return false;
  if (!used_once(given) || !used_once(given->producer->input(0)))
    return context.decline(rotation, "something else reads the heads before they are turned");
  const Node *transpose = given->producer, *reshape = transpose->input(0)->producer;
  std::vector<ValueInfo*> inputs = rotation->inputs;
  inputs[0] = heads->joined;
  std::vector<onnx::Attribute> attributes = rotation->attributes;
  std::erase_if(attributes, [](const onnx::Attribute& each) { return each.name == "num_heads"; });
  attributes.push_back({"num_heads", heads->count, {}});
  const std::string& name = rotation->output()->name;
  Patch patch(context, rotation);
  ValueInfo* const turned = patch.node(Op::kRotaryEmbedding, inputs, attributes, name);
  ValueInfo* const apart =
      patch.node(Op::kReshape, {turned, reshape->input(1)}, reshape->attributes, name);
  patch.replace(rotation->output(),
                patch.node(Op::kTranspose, {apart}, transpose->attributes, name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kRotaryEmbedding};

}  // namespace

const Rule kRotateJoinedHeads = {"rotate-joined-heads", kRoots, rotate, 23};

}  // namespace sardonyx::passes

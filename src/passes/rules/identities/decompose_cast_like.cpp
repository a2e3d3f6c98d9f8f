// Before: y = CastLike(x, like)    like is float16
// After:  y = Cast<to = float16>(x)
// What is cast is often a constant, and `like` is read for nothing else. Exporters by way of
// functions of one text for every type write it all over.
#include "passes/rules/identities/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Attribute;
using onnx::Node;
using onnx::Op;

bool spell(Node* node, RuleContext& context) {
  const onnx::ValueInfo* const like = node->input(1);
  if (like == nullptr || like->dtype == onnx::DType::kUndefined || like->is_complex) return false;
  std::vector<Attribute> attributes = node->attributes;  // how it rounds and saturates
  attributes.push_back({"to", static_cast<std::int64_t>(like->dtype), {}});
  Patch patch(context, node);
  patch.replace(node->output(), patch.node(Op::kCast, {node->input(0)}, std::move(attributes),
                                           node->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kCastLike};

}  // namespace

const Rule kDecomposeCastLike = {"decompose-cast-like", kRoots, spell, 15};

}  // namespace sardonyx::passes

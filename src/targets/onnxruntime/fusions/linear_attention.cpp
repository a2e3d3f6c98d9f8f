// Before: y, state = LinearAttention(q, k, v, past, decay, beta)
// After:  y, state = com.microsoft.LinearAttention(q, k, v, past, decay, beta)
//
// The runtime has no kernel for ONNX's operator, and without one it is a loop over the tokens.
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool fuse(Node* attention, rewriting::RuleContext& context) {
  for (const ValueInfo* input : attention->inputs)
    if (input != nullptr && input->dtype != DType::kFloat32)
      return context.decline(attention, "there is a kernel for float32 alone");
  rewriting::Patch patch(context, attention);
  const std::vector<ValueInfo*> made =
      patch.nodes(microsoft::kRecurrentAttention, attention->inputs, attention->attributes,
                  attention->output()->name, 2);
  if (!made.empty()) {
    patch.replace(attention->output(), made[0]);
    if (ValueInfo* const state = attention->output(1); state != nullptr)
      patch.replace(state, made[1]);
    else
      patch.omit(made[1]);
  }
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kLinearAttention};

}  // namespace

const rewriting::Rule kLinearAttention = {"linear-attention", kRoots, fuse};

}  // namespace sardonyx::targets

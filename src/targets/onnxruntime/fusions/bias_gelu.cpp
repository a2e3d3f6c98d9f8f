// Before: y = Gelu(Add(x, bias))
// After:  y = com.microsoft.BiasGelu(x, bias)
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool is_bias_of(const ValueInfo* bias, const ValueInfo* x) {
  return bias->has_rank && bias->shape.size() == 1 && x->has_rank && x->shape.size() > 1 &&
         bias->shape[0].known() && bias->shape[0] == x->shape.back();
}

bool fuse(Node* gelu, rewriting::RuleContext& context) {
  const Node* sum = rewriting::made_by(gelu->input(0), Op::kAdd);
  if (sum == nullptr || gelu->string_or("approximate", "none") != "none") return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    ValueInfo *const x = sum->input(side), *const bias = sum->input(1 - side);
    if (!is_bias_of(bias, x)) continue;
    if (x->dtype != base::DType::kFloat32)
      return context.decline(gelu, "there is a kernel for float32 alone");
    if (!rewriting::used_once(sum->output()))
      return context.decline(gelu, "the sum is read elsewhere, too");
    rewriting::Patch patch(context, gelu);
    patch.replace(gelu->output(),
                  patch.node(microsoft::kGeluOfSum, {x, bias}, {}, gelu->output()->name));
    return patch.apply();
  }
  return false;
}

constexpr Op kRoots[] = {Op::kGelu};

}  // namespace

const rewriting::Rule kBiasGelu = {"bias-gelu", kRoots, fuse, 20};

}  // namespace sardonyx::targets

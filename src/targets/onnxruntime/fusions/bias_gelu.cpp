// Before: y = Gelu(Add(x, bias))
// After:  y = com.microsoft.BiasGelu(x, bias)
// Before: y = Gelu<approximate = "tanh">(Add(x, bias))
// After:  y = com.microsoft.FastGelu(x, bias)
#include <string_view>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool is_bias_of(const ValueInfo* bias, const ValueInfo* x) {
  return bias->has_rank && bias->shape.size() == 1 && x->has_rank && x->shape.size() > 1 &&
         bias->shape[0].known() && bias->shape[0] == x->shape.back();
}

struct Sum {
  ValueInfo *x = nullptr, *bias = nullptr;
};

// The sum with a bias that nothing else reads.
Sum find(const ValueInfo* value) {
  const Node* sum = rewriting::made_by(value, Op::kAdd);
  if (sum == nullptr) return {};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    if (is_bias_of(sum->input(1 - side), sum->input(side)))
      return {sum->input(side), sum->input(1 - side)};
  return {};
}

// By the operator that is there for this kind of Gelu.
bool fuse(Node* gelu, std::string_view approximate, const onnx::ForeignOperator& op,
          rewriting::RuleContext& context) {
  const Sum sum = find(gelu->input(0));
  if (sum.x == nullptr || gelu->string_or("approximate", "none") != approximate) return false;
  if (sum.x->dtype != base::DType::kFloat32)
    return context.decline(gelu, "there is a kernel for float32 alone");
  if (!rewriting::used_once(gelu->input(0)))
    return context.decline(gelu, "the sum is read elsewhere, too");
  rewriting::Patch patch(context, gelu);
  patch.replace(gelu->output(), patch.node(op, {sum.x, sum.bias}, {}, gelu->output()->name));
  return patch.apply();
}

bool fuse_exact(Node* gelu, rewriting::RuleContext& context) {
  return fuse(gelu, "none", microsoft::kGeluOfSum, context);
}

bool fuse_fast(Node* gelu, rewriting::RuleContext& context) {
  return fuse(gelu, "tanh", microsoft::kFastGeluOfSum, context);
}

constexpr Op kRoots[] = {Op::kGelu};

}  // namespace

const rewriting::Rule kBiasGelu = {"bias-gelu", kRoots, fuse_exact, 20};
const rewriting::Rule kFastGelu = {"fast-gelu", kRoots, fuse_fast, 20};

}  // namespace sardonyx::targets

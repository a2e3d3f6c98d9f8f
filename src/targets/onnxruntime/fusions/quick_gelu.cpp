// Before: y = Mul(x, Sigmoid(Mul(x, alpha)))
// After:  y = com.microsoft.QuickGelu<alpha>(x)
// So, too, without alpha (SiLU), and Swish and SwiGLU, which have no kernel.
#include <optional>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

std::optional<float> number(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr || value->dtype != base::DType::kFloat32 ||
      value->constant->element_count() != 1 || value->constant->dims.size() > 1)
    return std::nullopt;
  const auto reals = value->constant->reals();
  return reals ? std::optional(static_cast<float>(reals->front())) : std::nullopt;
}

// alpha where `value` is alpha * x.
std::optional<float> factor(const ValueInfo* value, const ValueInfo* x) {
  if (value == x) return 1.0F;
  const Node* product = rewriting::made_by(value, Op::kMul);
  if (product == nullptr || !rewriting::used_once(value)) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    if (product->input(side) == x) return number(product->input(1 - side));
  return std::nullopt;
}

struct Found {
  ValueInfo* x;
  float alpha;
};

std::optional<Found> find(const Node* node, rewriting::RuleContext& context) {
  if (node->is(Op::kSwish) || node->is(Op::kSwiGLU))
    return Found{node->input(0), node->float_or("alpha", 1.0F)};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    ValueInfo* const x = node->input(1 - side);
    const Node* gate = rewriting::made_by(node->input(side), Op::kSigmoid);
    const auto alpha = gate == nullptr ? std::nullopt : factor(gate->input(0), x);
    if (!alpha) continue;
    if (rewriting::used_once(gate->output())) return Found{x, *alpha};
    context.decline(node, "the Sigmoid is read elsewhere, too");
  }
  return std::nullopt;
}

bool fuse(Node* node, rewriting::RuleContext& context) {
  const auto found = find(node, context);
  if (!found) return false;
  if (found->x->dtype != base::DType::kFloat32)
    return context.decline(node, "there is a kernel for float32 alone");
  rewriting::Patch patch(context, node);
  const std::string& name = node->output()->name;
  ValueInfo* y = patch.node(microsoft::kSwish, {found->x}, {{"alpha", found->alpha, {}}}, name);
  if (node->is(Op::kSwiGLU)) y = patch.node(Op::kMul, {y, node->input(1)}, {}, name);
  patch.replace(node->output(), y);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kSwiGLU, Op::kSwish};

}  // namespace

const rewriting::Rule kQuickGelu = {"quick-gelu", kRoots, fuse};

}  // namespace sardonyx::targets

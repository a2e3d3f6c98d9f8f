// Before: left, right = Split<axis = -1>(Add(x, bias))
//         y = Mul(left, Gelu(right))
// After:  y = com.microsoft.BiasSplitGelu(x, bias)
#include <algorithm>
#include <array>
#include <cstdint>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// The kernel is there for these widths of both halves together.
constexpr std::array<std::int64_t, 3> kWidths = {2560, 5120, 10240};

// The Split in two halves whose first one is multiplied by the Gelu of the other; null where there
// is none.
const Node* halves(const Node* product) {
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* gelu = rewriting::made_by(product->input(side), Op::kGelu);
    const ValueInfo* left = product->input(1 - side);
    const Node* split = rewriting::made_by(left, Op::kSplit);
    if (gelu == nullptr || split == nullptr || gelu->string_or("approximate", "none") != "none" ||
        split->outputs.size() != 2 || split->output(0) != left ||
        split->output(1) != gelu->input(0) || !rewriting::used_once(gelu->output()) ||
        !rewriting::used_once(split->output(0)) || !rewriting::used_once(split->output(1)))
      continue;
    const ValueInfo* whole = split->input(0);
    const std::int64_t axis = split->int_or("axis", 0);
    if (!whole->has_rank || whole->shape.size() != 3 || (axis != 2 && axis != -1) ||
        !left->has_rank || !(left->shape.back() == split->output(1)->shape.back()))
      continue;
    return split;
  }
  return nullptr;
}

struct Sum {
  ValueInfo *x = nullptr, *bias = nullptr;
};

Sum sum_of(const ValueInfo* value) {
  const Node* sum = rewriting::made_by(value, Op::kAdd);
  if (sum == nullptr || !rewriting::used_once(value)) return {};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    ValueInfo *const x = sum->input(1 - side), *const bias = sum->input(side);
    const bool is_bias = bias->has_rank && bias->shape.size() == 1 && x->has_rank &&
                         x->shape.size() == 3 && bias->shape[0] == x->shape.back();
    if (is_bias) return {x, bias};
  }
  return {};
}

bool fuse(Node* product, rewriting::RuleContext& context) {
  const Node* split = halves(product);
  if (split == nullptr) return false;
  const Sum sum = sum_of(split->input(0));
  if (sum.x == nullptr) return context.decline(product, "no bias is added to the halves alone");
  const symbolic::Expr width = sum.x->shape.back();
  if (!width.is_constant() || std::ranges::find(kWidths, width.value()) == kWidths.end())
    return context.decline(product, "the kernel takes 2560, 5120 or 10240 numbers in a row");
  rewriting::Patch patch(context, product);
  patch.replace(product->output(), patch.node(microsoft::kGatedGeluOfSum, {sum.x, sum.bias}, {},
                                              product->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul};

}  // namespace

const rewriting::Rule kBiasSplitGelu = {"bias-split-gelu", kRoots, fuse, 20};

}  // namespace sardonyx::targets

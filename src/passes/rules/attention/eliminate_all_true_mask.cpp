// Before: y = Attention(q, k, v, Expand(true, [b, 1, s, s]))
// After:  y = Attention(q, k, v)
// So, too, where only zeros are added to the scores. Encoders without padding are captured with
// such a mask.
#include <algorithm>

#include "onnx/graph/value.h"
#include "onnx/operators/traits.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 20;

bool is_open(const onnx::Tensor& constant) {
  if (constant.element_count() > kMaxElements) return false;
  if (constant.dtype == onnx::DType::kBool) {
    const auto seen = constant.ints();
    return seen && std::ranges::all_of(*seen, [](std::int64_t each) { return each != 0; });
  }
  const auto added = constant.reals();
  return added && std::ranges::all_of(*added, [](double each) { return each == 0; });
}

// Whether every element lets a key be seen, as far as its making tells. A weight may get other
// values later: those of a checkpoint, or of the next one.
bool is_open(const ValueInfo* mask) {
  if (mask == nullptr || mask->is_weight || !mask->made_of.empty()) return false;
  if (mask->constant != nullptr) return is_open(*mask->constant);
  const Node* node = mask->producer;
  if (node == nullptr) return false;
  if (node->is(Op::kAnd) || node->is(Op::kWhere))
    return is_open(node->input(0)) && is_open(node->input(1));
  return onnx::has_trait(node->op, onnx::Trait::kRearranges) && is_open(node->input(0));
}

// Keys beyond a mask that is too short for them would be hidden.
bool reaches_every_key(const Node* attention) {
  const onnx::Value mask = attention->input(3), k = attention->input(1), past = attention->input(4);
  if (!mask.has_rank() || mask.rank() == 0 || !k.has_rank() || k.rank() < 3) return false;
  symbolic::Expr keys = k.dim(-2);
  if (past) keys = past.has_rank() && past.rank() == 4 ? keys + past.dim(2) : symbolic::Expr();
  return keys.known() && mask.dim(-1) == keys;
}

bool drop(Node* attention, RuleContext& context) {
  const ValueInfo* mask = attention->input(3);
  if (mask == nullptr || !is_open(mask)) return false;
  if (!reaches_every_key(attention))
    return context.decline(attention, "whether its mask reaches every key is not known");
  Patch patch(context, attention);
  patch.set_input(attention, 3, nullptr);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const Rule kEliminateAllTrueMask = {"eliminate-all-true-mask", kRoots, drop, 23};

}  // namespace sardonyx::passes

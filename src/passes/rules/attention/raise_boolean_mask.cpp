// Before: y = Attention(q, k, v, Where(seen, 0, -infinity))
// After:  y = Attention(q, k, v, seen)
// Both mean the same to the operator, fully masked rows included, and bools are what contrib
// operators take.
#include "passes/rules/attention/hidden_rows.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool take_truth(Node* attention, RuleContext& context) {
  const ValueInfo* mask = attention->input(3);
  ValueInfo* const truth = mask == nullptr ? nullptr : truth_of(mask);
  if (truth == nullptr) return false;
  Patch patch(context, attention);
  patch.set_input(attention, 3, truth);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const Rule kRaiseBooleanMask = {"raise-boolean-mask", kRoots, take_truth, 23};

}  // namespace sardonyx::passes

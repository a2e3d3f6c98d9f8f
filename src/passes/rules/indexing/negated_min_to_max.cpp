// Before: d = Neg(Min(Sub(j, i), 0))      i and j being iotas
// After:  d = Max(Sub(i, j), 0)
// How far a key lies behind its query, as relative positions write it. Differences of iotas are
// never the least integer, which has no opposite.
#include "passes/rules/indexing/iota.h"
#include "passes/rules/indexing/rules.h"
#include "passes/splat.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kJ, kI, kZero };

bool is_zero(const onnx::ValueInfo* value) { return splat_value(value) == 0; }

constexpr auto kWritten =
    op(Op::kNeg, op(Op::kMin, op(Op::kSub, any(kJ), any(kI)), any(kZero, is_zero)));

bool turn(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found || !iota_of((*found)[kI]) || !iota_of((*found)[kJ])) return false;
  Patch patch(context, root);
  const std::string& name = root->output()->name;
  onnx::ValueInfo* const back =
      patch.node(Op::kSub, {(*found)[kI], (*found)[kJ]}, {}, name + "_Sub");
  patch.replace(root->output(), patch.node(Op::kMax, {back, (*found)[kZero]}, {}, name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kNeg};

}  // namespace

const Rule kNegatedMinToMax = {"negated-min-to-max", kRoots, turn, 13};

}  // namespace sardonyx::passes

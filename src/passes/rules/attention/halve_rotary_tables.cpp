// Before: c = Cos(Concat<axis = -1>(f, f))
// After:  g = Cos(f); c = Concat<axis = -1>(g, g)
// So, too, the other steps from the angles of a rotary embedding to its tables: half of each is
// computed, and RotaryEmbedding takes that half.
#include <string>
#include <vector>

#include "passes/rules/attention/rotary_tables.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool is_number(const ValueInfo* value) {
  return value != nullptr && value->constant != nullptr && value->constant->element_count() == 1 &&
         value->has_rank && value->shape.size() <= 1;
}

bool halve(Node* node, RuleContext& context) {
  const bool product = node->is(Op::kMul);
  const std::size_t side = product && repeated(node->input(0)) == nullptr ? 1 : 0;
  ValueInfo* const half = repeated(node->input(side));
  if (half == nullptr || node->output() == nullptr) return false;
  if (product && !is_number(node->input(1 - side))) return false;
  if (!product && !keeps_last_axis(node)) return false;
  std::vector<ValueInfo*> inputs = node->inputs;
  inputs[side] = half;
  const std::string& name = node->output()->name;
  Patch patch(context, node);
  ValueInfo* const made = patch.node(node->op, inputs, node->attributes, name + "_half");
  patch.replace(node->output(),
                patch.node(Op::kConcat, {made, made}, {{"axis", std::int64_t{-1}, {}}}, name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kCos, Op::kSin, Op::kCast, Op::kMul, Op::kUnsqueeze};

}  // namespace

const Rule kHalveRotaryTables = {"halve-rotary-tables", kRoots, halve, 13};

}  // namespace sardonyx::passes

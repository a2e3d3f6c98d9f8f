// Before: y = Concat<axis = 1>(Concat<axis = 1>(a, b), c)
// After:  y = Concat<axis = 1>(a, b, c)
// Inner ones that something else reads stay.
#include <cstdint>
#include <optional>
#include <vector>

#include "passes/rules/indexing/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

std::optional<std::int64_t> axis_of(const Node* concat) {
  const ValueInfo* y = concat->output();
  const onnx::Attribute* given = concat->find("axis");
  if (y == nullptr || !y->has_rank || given == nullptr) return std::nullopt;
  const std::int64_t axis = concat->int_or("axis", 0);
  return axis < 0 ? axis + static_cast<std::int64_t>(y->shape.size()) : axis;
}

bool join(Node* last, RuleContext& context) {
  const auto axis = axis_of(last);
  if (!axis) return false;
  std::vector<ValueInfo*> parts;
  bool joins = false;
  for (ValueInfo* part : last->inputs) {
    const Node* inner = part == nullptr ? nullptr : made_by(part, Op::kConcat);
    if (inner == nullptr || inner->graph != last->graph || axis_of(inner) != axis ||
        !used_once(part)) {
      parts.push_back(part);
      continue;
    }
    parts.insert(parts.end(), inner->inputs.begin(), inner->inputs.end());
    joins = true;
  }
  if (!joins) return false;
  Patch patch(context, last);
  patch.replace(last->output(), patch.node(Op::kConcat, std::move(parts), {{"axis", *axis, {}}},
                                           last->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kConcat};

}  // namespace

// Before opset 4 the axis was 1 where nothing said otherwise.
const Rule kMergeConcats = {"merge-concats", kRoots, join, 4};

}  // namespace sardonyx::passes

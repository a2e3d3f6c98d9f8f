// Before: y = Pad<constant>(Pad<constant>(x, p, v), q, v)
// After:  y = Pad<constant>(x, p + q, v)
// So, too, where both repeat the edge.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "passes/rules/padding/padding.h"
#include "passes/rules/padding/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// A NaN is the same as itself, and 0 is not the same as -0.
bool fill_alike(const Node* a, const Node* b) {
  const std::string mode = a->string_or("mode", "constant");
  if (mode != b->string_or("mode", "constant")) return false;
  if (mode == "edge") return true;
  const auto one = fill_of(a), other = fill_of(b);
  return one && other && std::bit_cast<std::uint64_t>(*one) == std::bit_cast<std::uint64_t>(*other);
}

bool join(Node* last, RuleContext& context) {
  const Node* first = made_by(last->input(0), Op::kPad);
  if (first == nullptr || first->graph != last->graph) return false;
  if (!fill_alike(first, last)) return context.decline(last, "the two do not fill with the same");
  if (!used_once(first->output()))
    return context.decline(last, "something else reads what is padded once");
  const auto before = padding_of(first);
  auto widths = padding_of(last);
  if (!before || !widths || before->size() != widths->size())
    return context.decline(last, "a width is not known");
  const auto is_cut = [](std::int64_t width) { return width < 0; };
  if (std::ranges::any_of(*before, is_cut) || std::ranges::any_of(*widths, is_cut))
    return context.decline(last, "an axis is cut");
  for (std::size_t i = 0; i < widths->size(); ++i) (*widths)[i] += (*before)[i];

  ValueInfo* const y = last->output();
  Patch patch(context, last);
  std::vector<ValueInfo*> inputs{first->input(0), patch.ints(*std::move(widths))};
  if (last->input(2) != nullptr) inputs.push_back(last->input(2));
  patch.replace(y, patch.node(Op::kPad, std::move(inputs),
                              {{"mode", last->string_or("mode", "constant"), {}}}, y->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kPad};

}  // namespace

// Before opset 11 the pads were an attribute.
const Rule kMergePads = {"merge-pads", kRoots, join, 11};

}  // namespace sardonyx::passes

// Before: y = Squeeze(Transpose<perm = [3, 1, 2, 0, 4]>(Unsqueeze(x, [0])), [3])
// After:  y = Transpose<perm = [2, 0, 1, 3]>(x)
// An axis that is put in and taken out again has only held a place, as torch's MultiheadAttention
// does with what its one product for queries, keys and values gives.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_ints.h"
#include "passes/rules/reshape/rules.h"
#include "passes/transposition/transpose_sinking.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// The axes of `value` that a node names by its second input, in order.
std::optional<std::vector<std::int64_t>> axes_of(const Node* node, const ValueInfo* value) {
  auto axes = constant_ints(node->input(1));
  if (!axes || !value->has_rank) return std::nullopt;
  for (std::int64_t& axis : *axes)
    if (axis < 0) axis += static_cast<std::int64_t>(value->shape.size());
  std::ranges::sort(*axes);
  return axes;
}

bool transpose(Node* squeeze, RuleContext& context) {
  const Node* transpose = made_by(squeeze->input(0), Op::kTranspose);
  const auto perm = perm_of(transpose);
  if (!perm) return false;
  const Node* unsqueeze = made_by(transpose->input(0), Op::kUnsqueeze);
  if (unsqueeze == nullptr) return false;
  const auto made = axes_of(unsqueeze, unsqueeze->output());
  auto taken = axes_of(squeeze, squeeze->input(0));
  if (!made || !taken) return false;
  const auto within = [&](std::int64_t axis) {
    return axis >= 0 && axis < static_cast<std::int64_t>(perm->size());
  };
  if (!std::ranges::all_of(*taken, within)) return false;
  for (std::int64_t& axis : *taken) axis = (*perm)[static_cast<std::size_t>(axis)];
  std::ranges::sort(*taken);
  if (*taken != *made) return false;
  Perm left;
  for (const std::int64_t axis : *perm)
    if (!std::ranges::binary_search(*made, axis))
      left.push_back(axis - (std::ranges::lower_bound(*made, axis) - made->begin()));
  Patch patch(context, squeeze);
  patch.replace(squeeze->output(),
                patch.node(Op::kTranspose, {unsqueeze->input(0)}, {{"perm", std::move(left), {}}},
                           squeeze->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kSqueeze};

}  // namespace

const Rule kDropUnitAxesAroundTranspose = {"drop-unit-axes-around-transpose", kRoots, transpose,
                                           13};

}  // namespace sardonyx::passes

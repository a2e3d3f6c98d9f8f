// Before: y = Reshape(Transpose<perm = [0, 2, 1]>(Reshape(x, [b * h, s, d])), [b, h, d, s])
// After:  y = Transpose<perm = [0, 1, 3, 2]>(x)
// with x: [b, h, s, d]. Axes that are joined, moved together and parted again need not be joined;
// where they are parted otherwise than x has them, one Reshape of x remains. Exporters turn the
// keys of attention so.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "onnx/graph/value.h"
#include "passes/rules/reshape/reshaping.h"
#include "passes/rules/reshape/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

struct Plan {
  Shape shape;                     // of what is transposed
  std::vector<std::int64_t> perm;  // of its axes
};

// `counts` axes of `parted` make one each of those that `order` has put in their places.
Plan before_the_transpose(const std::vector<std::int64_t>& order,
                          const std::vector<std::size_t>& counts, const Shape& parted) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
  Plan plan;
  plan.perm.resize(parted.size());
  for (const std::size_t at : place) {
    const auto first = std::accumulate(
        counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(at), std::size_t{0});
    for (std::size_t i = first; i < first + counts[at]; ++i) {
      plan.perm[i] = static_cast<std::int64_t>(plan.shape.size());
      plan.shape.push_back(parted[i]);
    }
  }
  return plan;
}

bool is_order(const std::vector<std::int64_t>& order, std::size_t rank) {
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return order.size() == rank && std::ranges::all_of(seen, [](bool each) { return each; });
}

bool move_inside(Node* last, RuleContext& context) {
  ValueInfo* const y = last->output();
  const Node* transpose = made_by(last->input(0), Op::kTranspose);
  const Node* first = transpose == nullptr ? nullptr : made_by(transpose->input(0), Op::kReshape);
  const auto* order = first == nullptr ? nullptr : transpose->ints("perm");
  if (y == nullptr || order == nullptr) return false;
  ValueInfo* const x = first->input(0);
  if (!has_known_sizes(x) || !has_known_sizes(y) || !has_known_sizes(transpose->output()) ||
      !is_order(*order, transpose->output()->shape.size()))
    return context.decline(last, "a size round the transposition is not known");
  const auto counts = axes_in_each(transpose->output()->shape, y->shape);
  if (!counts) return false;  // axes are joined that the transposition has parted
  if (!used_once(transpose->output()) || !used_once(first->output()))
    return context.decline(last, "something else reads the axes that are joined");

  const Plan plan = before_the_transpose(*order, *counts, y->shape);
  Patch patch(context, last);
  ValueInfo* const parted = reshaped(patch, x, plan.shape, y->name + "_parted");
  if (parted == nullptr) return context.decline(last, "the sizes of the axes have to be computed");
  patch.replace(y, patch.node(Op::kTranspose, {parted}, {{"perm", plan.perm, {}}}, y->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

// Since opset 15 Shape has a start and an end.
const Rule kTransposeInsideReshapes = {"transpose-inside-reshapes", kRoots, move_inside, 15};

}  // namespace sardonyx::passes

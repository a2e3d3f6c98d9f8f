// Before: y = Unsqueeze(ReduceMean<keepdims = 0>(x, axes), axes)
// After:  y = ReduceMean<keepdims = 1>(x, axes)
// Before: y = Squeeze(ReduceMean<keepdims = 1>(x, axes), axes)
// After:  y = ReduceMean<keepdims = 0>(x, axes)
// So, too, where a Reshape says it, and for ArgMax and ArgMin.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/operators/traits.h"
#include "passes/constant_ints.h"
#include "passes/rules/reshape/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using Axes = std::vector<std::int64_t>;

bool finds_position(const Node* node) {
  return onnx::has_trait(node->op, onnx::Trait::kFindsPosition);
}

bool reduces(const Node* node) {
  return onnx::has_trait(node->op, onnx::Trait::kReduces) || finds_position(node);
}

// The reduced axes from the front, in order; nothing where they are not known.
std::optional<Axes> reduced_axes(const Node* node) {
  const ValueInfo* x = node->input(0);
  if (x == nullptr || !x->has_rank) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->shape.size());
  Axes axes;
  if (finds_position(node)) {
    axes = {node->int_or("axis", 0)};
  } else if (node->input(1) != nullptr) {
    const auto given = constant_ints(node->input(1));
    if (!given) return std::nullopt;
    axes = *given;
  }
  if (axes.empty()) {
    if (node->int_or("noop_with_empty_axes", 0) != 0) return std::nullopt;
    for (std::int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  std::ranges::sort(axes);
  return axes;
}

// What is left of x with these axes as ones, or without them.
onnx::Shape shape_of(const ValueInfo* x, const Axes& axes, bool keeps) {
  onnx::Shape shape;
  for (std::size_t i = 0; i < x->shape.size(); ++i) {
    const bool reduced = std::ranges::binary_search(axes, static_cast<std::int64_t>(i));
    if (!reduced) shape.push_back(x->shape[i]);
    if (reduced && keeps) shape.push_back(1);
  }
  return shape;
}

bool is_known(const ValueInfo* value) {
  return value->has_rank &&
         std::ranges::all_of(value->shape, [](symbolic::Expr dim) { return dim.known(); });
}

bool reduce(Node* last, RuleContext& context) {
  ValueInfo* const y = last->output();
  Node* const node = last->input(0) == nullptr ? nullptr : last->input(0)->producer;
  if (y == nullptr || node == nullptr || !reduces(node)) return false;
  const auto axes = reduced_axes(node);
  if (!axes || !is_known(y) || !is_known(node->input(0)))
    return context.decline(last, "which axes are reduced, or their sizes, is not known");
  const bool keeps = node->int_or("keepdims", 1) != 0;
  if (!std::ranges::equal(y->shape, shape_of(node->input(0), *axes, !keeps))) return false;
  if (!used_once(node->output()))
    return context.decline(last, "something else reads what is reduced");
  std::vector<onnx::Attribute> attributes = node->attributes;
  std::erase_if(attributes, [](const onnx::Attribute& each) { return each.name == "keepdims"; });
  attributes.push_back({"keepdims", std::int64_t{keeps ? 0 : 1}, {}});
  Patch patch(context, last);
  patch.replace(y, patch.node(node->op, node->inputs, std::move(attributes), y->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape, Op::kSqueeze, Op::kUnsqueeze};

}  // namespace

// Since opset 18 all reductions take axes as an input.
const Rule kReduceToShape = {"reduce-to-shape", kRoots, reduce, 18};

}  // namespace sardonyx::passes

// Before: y = Add(Mul(Transpose(LayerNormalization(x, ones)), weight), bias)
//         weight, bias: [channels, 1, 1], channels being the axis that the Transpose moves forward
// After:  y = Transpose(LayerNormalization(x, weight, bias)), both as [channels]
// One at a time: the product first, and the sum where a product stands no more.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "passes/rules/normalization/affine.h"
#include "passes/rules/normalization/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

struct Found {
  const Node *transpose, *normal;
  ValueInfo* by;  // what is multiplied or added
};

// A Transpose of what was normalized over its last axis, read by `root` alone.
std::optional<Found> find(const Node* root) {
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* transpose = made_by(root->input(side), Op::kTranspose);
    const Node* normal =
        transpose == nullptr ? nullptr : made_by(transpose->input(0), Op::kLayerNormalization);
    if (normal != nullptr && normal->outputs.size() == 1 && normal->int_or("axis", -1) == -1 &&
        used_once(transpose->output()) && used_once(normal->output()))
      return Found{transpose, normal, root->input(1 - side)};
  }
  return std::nullopt;
}

// Whether it holds a number for each channel, along the axis to which `order` moves the last one.
bool is_of_channels(const ValueInfo* value, const std::vector<std::int64_t>& order,
                    symbolic::Expr channels) {
  if (value == nullptr || !value->has_rank || value->shape.size() > order.size()) return false;
  const std::size_t missing = order.size() - value->shape.size();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_channel = order[i] + 1 == static_cast<std::int64_t>(order.size());
    if (i < missing ? is_channel : !(value->shape[i - missing] == (is_channel ? channels : 1)))
      return false;
  }
  return true;
}

bool scale(Node* root, RuleContext& context) {
  const auto found = find(root);
  const auto* order = found ? found->transpose->ints("perm") : nullptr;
  if (order == nullptr) return false;
  ValueInfo *const ones = found->normal->input(1), *const y = root->output();
  if (!ones->has_rank || ones->shape.size() != 1 || !ones->shape[0].is_constant()) return false;
  const bool is_product = root->is(Op::kMul);
  if (found->normal->input(2) != nullptr || (is_product && !is_no_scale(ones))) return false;
  if (!is_of_channels(found->by, *order, ones->shape[0])) return false;

  Patch patch(context, root);
  ValueInfo* const row =
      patch.node(Op::kReshape, {found->by, patch.ints({-1})}, {}, found->by->name + "_row");
  std::vector<ValueInfo*> inputs = {found->normal->input(0), is_product ? row : ones};
  if (!is_product) inputs.push_back(row);
  ValueInfo* const normal = patch.node(Op::kLayerNormalization, std::move(inputs),
                                       found->normal->attributes, y->name + "_last");
  patch.replace(y, patch.node(Op::kTranspose, {normal}, found->transpose->attributes, y->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kAdd};

}  // namespace

const Rule kScaleChannels = {"scale-channels", kRoots, scale, 17};

}  // namespace sardonyx::passes

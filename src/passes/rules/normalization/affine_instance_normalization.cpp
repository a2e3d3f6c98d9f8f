// Before: y = Add(Mul(InstanceNormalization(x, scale, bias), w), b)    w and b are [channels, 1, 1]
// After:  y = InstanceNormalization(x, scale * w, bias * w + b)
// One at a time, the product first. Exporters write a group normalization whose groups are single
// channels so.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/graph/recipe.h"
#include "passes/rules/normalization/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using Reals = std::vector<double>;

// A number a channel, of what has this many of them and axes behind them.
std::optional<Reals> by_channel(const ValueInfo* value, std::size_t rank, std::size_t channels) {
  if (value == nullptr || value->constant == nullptr || value->is_disputed ||
      value->dtype != onnx::DType::kFloat32 || value->constant->dims.size() > rank)
    return std::nullopt;
  const auto& dims = value->constant->dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool of_channels = rank - dims.size() + i == 1;
    if (dims[i] != 1 && !(of_channels && dims[i] == static_cast<std::int64_t>(channels)))
      return std::nullopt;
  }
  auto values = value->constant->reals();
  if (values && values->size() == 1) values->resize(channels, values->front());
  return values;
}

std::optional<Reals> row(const ValueInfo* value) {
  if (value->dtype != onnx::DType::kFloat32 || value->is_disputed ||
      value->constant->dims.size() != 1)
    return std::nullopt;
  return value->constant->reals();
}

onnx::Tensor row_of(const Reals& values) {
  std::vector<std::byte> bytes(values.size() * 4);
  for (std::size_t i = 0; i < values.size(); ++i)
    onnx::store_real(onnx::DType::kFloat32, values[i], bytes.data() + 4 * i);
  return onnx::Tensor::of_bytes(onnx::DType::kFloat32, {static_cast<std::int64_t>(values.size())},
                                bytes);
}

bool take(Node* root, std::size_t side, RuleContext& context) {
  const Node* const normal = made_by(root->input(side), Op::kInstanceNormalization);
  ValueInfo* const by = root->input(1 - side);
  if (normal == nullptr || by == nullptr || by->constant == nullptr) return false;
  ValueInfo *const old_scale = normal->input(1), *const old_bias = normal->input(2);
  const ValueInfo* const x = normal->input(0);
  if (!x->has_rank || old_scale->constant == nullptr || old_bias->constant == nullptr) return false;
  auto scale = row(old_scale), bias = row(old_bias);
  const auto numbers =
      scale ? by_channel(by, x->shape.size(), scale->size()) : std::optional<Reals>();
  if (!bias || !numbers || bias->size() != scale->size())
    return context.decline(root, "it is not one number a channel");
  if (!used_once(normal->output()))
    return context.decline(root, "something else reads what is normalized");
  const bool is_product = root->is(Op::kMul);
  for (std::size_t i = 0; i < scale->size(); ++i) {
    const double number = (*numbers)[i];
    if (is_product) (*scale)[i] *= number;
    (*bias)[i] = is_product ? (*bias)[i] * number : (*bias)[i] + number;
  }
  Patch patch(context, root);
  patch.fold_in(by);
  patch.fold_in(old_bias);
  ValueInfo* new_scale = old_scale;
  if (is_product) {
    patch.fold_in(old_scale);
    new_scale = patch.weight(old_scale->name + "_folded", row_of(*scale));
  }
  ValueInfo* const new_bias = patch.weight(old_bias->name + "_folded", row_of(*bias));
  ValueInfo* const y = root->output();
  patch.replace(y, patch.node(Op::kInstanceNormalization, {normal->input(0), new_scale, new_bias},
                              normal->attributes, y->name));
  return patch.apply();
}

bool fold(Node* root, RuleContext& context) {
  return root->output() != nullptr && (take(root, 0, context) || take(root, 1, context));
}

constexpr Op kRoots[] = {Op::kMul, Op::kAdd};

}  // namespace

const Rule kAffineInstanceNormalization = {"affine-instance-normalization", kRoots, fold, 7,
                                           /*changes_weights=*/true};

}  // namespace sardonyx::passes

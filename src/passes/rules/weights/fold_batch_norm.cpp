// Before: y = BatchNormalization(Conv(x, weight, bias), scale, shift, mean, variance)
// After:  y = Conv(x, weight * f, (bias - mean) * f + shift) with f = scale / sqrt(variance + eps)
// So, too, after ConvTranspose and Gemm.
#include <cmath>
#include <cstddef>
#include <optional>

#include "passes/rules/weights/channel_affine.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

// What the normalisation does to a channel.
std::optional<ChannelAffine> affine_of(const Node* norm, onnx::DType dtype) {
  const auto scale = reals_of(norm->input(1), dtype), shift = reals_of(norm->input(2), dtype);
  const auto mean = reals_of(norm->input(3), dtype), variance = reals_of(norm->input(4), dtype);
  if (!scale || !shift || !mean || !variance) return std::nullopt;
  const std::size_t count = scale->size();
  if (shift->size() != count || mean->size() != count || variance->size() != count)
    return std::nullopt;
  const double epsilon = static_cast<double>(norm->float_or("epsilon", 1e-5F));
  ChannelAffine affine;
  for (std::size_t c = 0; c < count; ++c) {
    const double factor = (*scale)[c] / std::sqrt((*variance)[c] + epsilon);
    affine.factor.push_back(factor);
    affine.offset.push_back((*shift)[c] - (*mean)[c] * factor);
  }
  return affine;
}

bool only_output_used(const Node* norm) {
  for (std::size_t i = 1; i < norm->outputs.size(); ++i)
    if (norm->outputs[i] != nullptr && onnx::has_uses(norm->outputs[i])) return false;
  return norm->output() != nullptr;
}

bool fold(Node* norm, RuleContext& context) {
  if (norm->int_or("training_mode", 0) != 0 || !only_output_used(norm)) return false;
  ValueInfo* const x = norm->input(0);
  Node* const node = affine_taker(x, norm, context);
  if (node == nullptr) return false;
  if (!can_replace(norm->output(), x))
    return context.decline(norm, "the output's name cannot go to another node");
  const auto affine = affine_of(norm, node->input(1)->constant->dtype);
  if (!affine) return context.decline(norm, "its statistics are no constants of the weight's type");
  Patch patch(context, norm);
  apply_affine(patch, node, *affine, norm->input(2)->name);
  for (std::size_t i = 1; i < 5; ++i) patch.fold_in(norm->input(i));
  patch.replace(norm->output(), x);
  return patch.apply();
}

constexpr onnx::Op kRoots[] = {onnx::Op::kBatchNormalization};

}  // namespace

// Before opset 9 outputs beyond the first meant training.
const Rule kFoldBatchNorm = {"fold-batch-norm", kRoots, fold, 9, /*changes_weights=*/true};

}  // namespace sardonyx::passes

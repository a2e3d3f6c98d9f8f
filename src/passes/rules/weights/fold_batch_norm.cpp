// Before: y = BatchNormalization(Conv(x, weight, bias), scale, shift, mean, variance)
// After:  y = Conv(x, weight * f, (bias - mean) * f + shift) with f = scale / sqrt(variance + eps)
// So, too, after ConvTranspose and Gemm.
#include <optional>

#include "onnx/fold/formula.h"
#include "passes/rules/weights/channel_affine.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

// What the normalization does to a channel.
std::optional<ChannelAffine> affine_of(const Node* norm, onnx::DType dtype) {
  const auto scale = doubles_of(norm->input(1), dtype), shift = doubles_of(norm->input(2), dtype);
  const auto mean = doubles_of(norm->input(3), dtype);
  const auto variance = doubles_of(norm->input(4), dtype);
  if (!scale || !shift || !mean || !variance) return std::nullopt;
  if (shift->dims != scale->dims || mean->dims != scale->dims || variance->dims != scale->dims)
    return std::nullopt;
  const onnx::Tensor epsilon = number(static_cast<double>(norm->float_or("epsilon", 1e-5F)));
  const onnx::Tensor deviation =
      onnx::computed("Sqrt", {onnx::computed("Add", {*variance, epsilon})});
  const onnx::Tensor factor = onnx::computed("Div", {*scale, deviation});
  return ChannelAffine{factor,
                       onnx::computed("Sub", {*shift, onnx::computed("Mul", {*mean, factor})})};
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

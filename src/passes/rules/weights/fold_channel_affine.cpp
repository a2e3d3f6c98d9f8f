// Before: y = Mul(Conv(x, weight, bias), scale)    scale of shape [1, channels, 1, 1]
// After:  y = Conv(x, weight * scale, bias * scale)
// Before: y = Add(Conv(x, weight, bias), shift)    shift of shape [1, channels, 1, 1]
// After:  y = Conv(x, weight, bias + shift)
// So, too, Div and Sub, and after ConvTranspose and Gemm: frozen batch norms are written so.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/fold/formula.h"
#include "passes/rules/weights/channel_affine.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

// A constant that broadcasts along every axis but the channels', an entry a channel; `rank` is that
// of what it is combined with.
std::optional<Tensor> by_channel(const ValueInfo* value, onnx::DType dtype, std::size_t rank,
                                 std::int64_t channels) {
  if (value == nullptr || value->constant == nullptr || value->constant->dtype != dtype)
    return std::nullopt;
  const auto& dims = value->constant->dims;
  if (dims.size() > rank || value->constant->element_count() > channels) return std::nullopt;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t axis = rank - dims.size() + i;
    if (dims[i] != 1 && (axis != 1 || dims[i] != channels)) return std::nullopt;
  }
  auto values = doubles_of(value, dtype);
  if (values && values->dims[0] == 1 && channels != 1)
    values = onnx::computed("Expand",
                            {*values, Tensor::of_ints(std::vector<std::int64_t>{channels}, {1})});
  return values;
}

// What the node does to each channel of the operand that is not constant.
std::optional<ChannelAffine> affine_of(const Node* node, bool constant_first,
                                       const Tensor& values) {
  const std::int64_t count = values.dims[0];
  if (node->is(Op::kMul)) return ChannelAffine{values, numbers(count, 0)};
  if (node->is(Op::kAdd)) return ChannelAffine{numbers(count, 1), values};
  if (node->is(Op::kDiv)) {
    if (constant_first) return std::nullopt;
    return ChannelAffine{onnx::computed("Reciprocal", {values}), numbers(count, 0)};
  }
  if (constant_first) return ChannelAffine{numbers(count, -1), values};
  return ChannelAffine{numbers(count, 1), onnx::computed("Neg", {values})};
}

// `constant` is the operand that is not `x`.
bool fold_into(Node* combination, ValueInfo* x, ValueInfo* constant, RuleContext& context) {
  if (constant == nullptr || constant->constant == nullptr) return false;
  Node* const node = affine_taker(x, combination, context);
  if (node == nullptr) return false;
  if (!x->has_rank) return context.decline(combination, "the rank of its operand is not known");
  if (!can_replace(combination->output(), x))
    return context.decline(combination, "the output's name cannot go to another node");
  const std::int64_t channels = channels_of(node);
  const onnx::DType dtype = node->input(1)->constant->dtype;
  const auto values = by_channel(constant, dtype, x->shape.size(), channels);
  if (!values) return context.decline(combination, "its constant has no entry a channel");
  const auto affine = affine_of(combination, constant == combination->input(0), *values);
  if (!affine) return context.decline(combination, "it divides by what varies");
  Patch patch(context, combination);
  apply_affine(patch, node, *affine, combination->output()->name);
  patch.fold_in(constant);
  patch.replace(combination->output(), x);
  return patch.apply();
}

bool fold(Node* node, RuleContext& context) {
  if (node->output() == nullptr) return false;
  return fold_into(node, node->input(0), node->input(1), context) ||
         fold_into(node, node->input(1), node->input(0), context);
}

constexpr Op kRoots[] = {Op::kAdd, Op::kDiv, Op::kMul, Op::kSub};

}  // namespace

// Before opset 7 an attribute said where the smaller operand belongs.
const Rule kFoldChannelAffine = {"fold-channel-affine", kRoots, fold, 7, /*changes_weights=*/true};

}  // namespace sardonyx::passes

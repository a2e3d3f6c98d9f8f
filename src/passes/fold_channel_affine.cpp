// Before: y = Mul(Conv(x, weight, bias), scale)    scale of shape [1, channels, 1, 1]
// After:  y = Conv(x, weight * scale, bias * scale)
// Before: y = Add(Conv(x, weight, bias), shift)    shift of shape [1, channels, 1, 1]
// After:  y = Conv(x, weight, bias + shift)
// So, too, after ConvTranspose and Gemm: frozen batch norms are written so.
#include <cstddef>
#include <optional>

#include "passes/channel_affine.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

// A constant that broadcasts along every axis but the channels', an entry a channel; `rank` is that
// of what it is combined with.
std::optional<Reals> by_channel(const ValueInfo* value, onnx::DType dtype, std::size_t rank,
                                std::int64_t channels) {
  if (value == nullptr || value->constant == nullptr || value->constant->dtype != dtype)
    return std::nullopt;
  const auto& dims = value->constant->dims;
  if (dims.size() > rank || value->constant->element_count() > channels) return std::nullopt;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t axis = rank - dims.size() + i;
    if (dims[i] != 1 && (axis != 1 || dims[i] != channels)) return std::nullopt;
  }
  auto values = value->constant->reals();
  if (values && values->size() == 1)
    values->assign(static_cast<std::size_t>(channels), (*values)[0]);
  return values;
}

// `constant` is the operand that is not `x`.
bool fold_into(Node* combination, ValueInfo* x, ValueInfo* constant) {
  Node* const node = affine_taker(x);
  if (node == nullptr || node->graph != combination->graph || !x->has_rank ||
      !can_replace(combination->output(), x))
    return false;
  const std::int64_t channels = channels_of(node);
  const onnx::DType dtype = node->input(1)->constant->dtype;
  const auto values = by_channel(constant, dtype, x->shape.size(), channels);
  if (!values) return false;
  const auto count = static_cast<std::size_t>(channels);
  const ChannelAffine affine = combination->is("Mul") ? ChannelAffine{*values, Reals(count, 0.0)}
                                                      : ChannelAffine{Reals(count, 1.0), *values};
  if (!apply_affine(node, affine, combination->output()->name)) return false;
  constant->is_folded = true;
  return replace(combination->output(), x);
}

bool fold(Node* node) {
  if (!(node->is("Mul") || node->is("Add")) || node->output() == nullptr) return false;
  return fold_into(node, node->input(0), node->input(1)) ||
         fold_into(node, node->input(1), node->input(0));
}

}  // namespace

bool fold_channel_affine(onnx::Model& model) {
  // Before opset 7 an attribute said where the smaller operand belongs.
  if (opset_of(model) < 7) return false;
  return each_node(model.graph, fold);
}

}  // namespace sardonyx::passes

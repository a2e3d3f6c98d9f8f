#include "quantization/channel_paths.h"

#include <algorithm>
#include <optional>

#include "quantization/ir_names.h"

namespace sardonyx::quantization {
namespace {

std::int64_t rank_of(const ValueInfo* value) {
  return value->has_rank ? static_cast<std::int64_t>(value->shape.size()) : -1;
}

// The axis of a constant whose only extent lies where broadcasting has the axis of a value.
std::optional<std::int64_t> axis_within(const ValueInfo* constant, const ValueInfo* value,
                                        std::int64_t axis) {
  const std::vector<std::int64_t>& dims = constant->constant->dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  const std::int64_t own = axis - (rank_of(value) - rank);
  if (rank_of(value) < rank || own < 0 || own >= rank) return std::nullopt;
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != own && dims[static_cast<std::size_t>(i)] != 1) return std::nullopt;
  const symbolic::Expr size = value->shape[static_cast<std::size_t>(axis)];
  const bool fits =
      size.known() && size.constant() == dims[static_cast<std::size_t>(own)] && dims.size() > 0;
  return fits ? std::optional(own) : std::nullopt;
}

bool is_same_size(const ValueInfo* value, const ValueInfo* other, std::int64_t axis) {
  return rank_of(value) == rank_of(other) && value->shape[static_cast<std::size_t>(axis)] ==
                                                 other->shape[static_cast<std::size_t>(axis)];
}

// Operators of one input with f(c * x) = c * f(x) for each positive c.
bool keeps_factors(const Node* node) {
  return node->is(Op::kRelu) || node->is(Op::kLeakyRelu) || node->is(Op::kPRelu) ||
         node->is(Op::kIdentity) || node->is(Op::kAbs) || node->is(Op::kNeg);
}

bool pools_channels(const Node* node) {
  return node->is(Op::kMaxPool) || node->is(Op::kAveragePool) || node->is(Op::kGlobalAveragePool) ||
         node->is(Op::kGlobalMaxPool);
}

}  // namespace

bool is_plain_constant(const ValueInfo* value) {
  return value != nullptr && value->constant != nullptr && value->producer == nullptr &&
         !value->is_pinned && !value->constant->missing &&
         value->constant->dtype == base::DType::kFloat32;
}

ChannelPaths::ChannelPaths(const std::vector<Layer>& layers) {
  for (const Layer& layer : layers) layers_.emplace(layer.node, &layer);
}

ChannelPath ChannelPaths::find(const ValueInfo* value, std::int64_t axis) const {
  ChannelPath path;
  return follow(value, axis, path) ? path : ChannelPath{};
}

bool ChannelPaths::follow_only_use(const ValueInfo* value, std::int64_t axis,
                                   ChannelPath& path) const {
  return value != nullptr && value->uses.size() == 1 && follow(value, axis, path);
}

bool ChannelPaths::follow(const ValueInfo* value, std::int64_t axis, ChannelPath& path) const {
  Node* const node = value->producer;
  if (node == nullptr || !value->returns.empty() || value->is_disputed || axis < 0 ||
      axis >= rank_of(value) || node->outputs[0] != value || !node->domain.empty())
    return false;
  if (const auto layer = layers_.find(node); layer != layers_.end())
    return end_in_layer(*layer->second, axis, path);
  if (node->is(Op::kLayerNormalization) || node->is(Op::kRMSNormalization)) {
    const bool has_bias = node->input(2) != nullptr;
    for (std::size_t i = 1; i < (has_bias ? 3U : 2U); ++i) {
      if (!is_plain_constant(node->input(i))) return false;
      const auto own = axis_within(node->input(i), value, axis);
      if (!own) return false;
      path.constants.push_back({node, i, *own});
    }
    path.from_normalization = true;
    return axis == rank_of(value) - 1;
  }
  if (node->is(Op::kAdd)) return pass_sum(node, axis, path);
  if (node->is(Op::kMul)) return pass_product(node, axis, path);
  if (keeps_factors(node)) return follow_only_use(node->input(0), axis, path);
  if (pools_channels(node)) return axis == 1 && follow_only_use(node->input(0), axis, path);
  if (node->is(Op::kTranspose)) {
    const std::vector<std::int64_t>* axes = node->ints("perm");
    if (axes == nullptr || static_cast<std::int64_t>(axes->size()) != rank_of(value)) return false;
    return follow_only_use(node->input(0), (*axes)[static_cast<std::size_t>(axis)], path);
  }
  return false;
}

bool ChannelPaths::end_in_layer(const Layer& layer, std::int64_t axis, ChannelPath& path) const {
  const Node* node = layer.node;
  const bool is_convolution = node->is(Op::kConv);
  if (node->is(Op::kConvTranspose) ||
      axis != (is_convolution ? 1 : rank_of(node->outputs[0]) - 1) ||
      (node->input(2) != nullptr && layer.bias == nullptr))
    return false;
  path.constants.push_back({layer.node, 1, layer.axis});
  if (layer.bias != nullptr) {
    if (!is_plain_constant(layer.bias)) return false;
    const std::vector<std::int64_t>& dims = layer.weight->constant->dims;
    if (layer.bias->constant->dims[0] != dims[static_cast<std::size_t>(layer.axis)]) return false;
    path.constants.push_back({layer.node, 2, 0});
  }
  path.layer = &layer;
  return true;
}

bool ChannelPaths::pass_sum(Node* node, std::int64_t axis, ChannelPath& path) const {
  const std::size_t constant = is_plain_constant(node->input(1)) ? 1 : 0;
  const ValueInfo* other = node->input(1 - constant);
  if (!is_plain_constant(node->input(constant)) || other == nullptr ||
      !is_same_size(node->outputs[0], other, axis))
    return false;
  const auto own = axis_within(node->input(constant), node->outputs[0], axis);
  if (!own) return false;
  path.constants.push_back({node, constant, *own});
  return follow_only_use(other, axis, path);
}

// One operand takes the factors, if it has all channels.
bool ChannelPaths::pass_product(Node* node, std::int64_t axis, ChannelPath& path) const {
  const ValueInfo* result = node->outputs[0];
  if (node->input(0) == node->input(1)) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueInfo* operand = node->input(i);
    if (operand == nullptr) return false;
    if (is_plain_constant(operand)) {
      const auto own = axis_within(operand, result, axis);
      if (!own) continue;
      path.constants.push_back({node, i, *own});
      path.from_normalization = true;
      return true;
    }
    ChannelPath attempt;
    if (!is_same_size(result, operand, axis) || !follow_only_use(operand, axis, attempt)) continue;
    std::ranges::copy(attempt.constants, std::back_inserter(path.constants));
    path.layer = attempt.layer;
    path.from_normalization = attempt.from_normalization;
    return true;
  }
  return false;
}

}  // namespace sardonyx::quantization

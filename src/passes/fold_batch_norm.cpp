// Before: y = BatchNormalization(Conv(x, weight, bias), scale, shift, mean, variance)
// After:  y = Conv(x, weight * f, (bias - mean) * f + shift) with f = scale / sqrt(variance + eps)
// So, too, after ConvTranspose and Gemm. The new weights are computed in float64 and rounded once.
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using Reals = std::vector<double>;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

// The data of a float32 or float64 constant of this type.
std::optional<Reals> reals_of(const ValueInfo* value, onnx::DType dtype) {
  if (value == nullptr || value->constant == nullptr || value->constant->dtype != dtype)
    return std::nullopt;
  return value->constant->reals();
}

// What the normalisation does to a channel: y = x * factor + offset.
struct Channels {
  Reals factor, offset;
};

std::optional<Channels> channels_of(const Node* norm, onnx::DType dtype) {
  const auto scale = reals_of(norm->input(1), dtype), shift = reals_of(norm->input(2), dtype);
  const auto mean = reals_of(norm->input(3), dtype), variance = reals_of(norm->input(4), dtype);
  if (!scale || !shift || !mean || !variance) return std::nullopt;
  const std::size_t count = scale->size();
  if (shift->size() != count || mean->size() != count || variance->size() != count)
    return std::nullopt;
  const double epsilon = static_cast<double>(norm->float_or("epsilon", 1e-5F));
  Channels channels;
  for (std::size_t c = 0; c < count; ++c) {
    const double factor = (*scale)[c] / std::sqrt((*variance)[c] + epsilon);
    if (!std::isfinite(factor)) return std::nullopt;
    channels.factor.push_back(factor);
    channels.offset.push_back((*shift)[c] - (*mean)[c] * factor);
  }
  return channels;
}

bool plain_gemm(const Node* node) {
  return node->float_or("alpha", 1) == 1 && node->float_or("beta", 1) == 1;
}

// The channel of weight element `index`; dims as the operator lays them out.
class ChannelOf {
 public:
  ChannelOf(const Node* node, const std::vector<std::int64_t>& dims) {
    std::int64_t inner = 1;
    for (std::size_t i = 2; i < dims.size(); ++i) inner *= dims[i];
    if (node->is("ConvTranspose")) {  // [inputs, outputs / groups, ...]
      const std::int64_t groups = node->int_or("group", 1);
      inner_ = inner;
      period_ = dims[1];
      rows_in_group_ = groups > 0 ? dims[0] / groups : 0;
      channels_ = dims[1] * groups;
    } else if (node->is("Gemm") && node->int_or("transB", 0) == 0) {  // [inputs, outputs]
      inner_ = 1;
      period_ = dims[1];
      rows_in_group_ = dims[0];
      channels_ = dims[1];
    } else {  // [outputs, ...]
      inner_ = inner * dims[1];
      period_ = dims[0];
      rows_in_group_ = 1;
      channels_ = dims[0];
    }
  }

  std::int64_t channels() const { return channels_; }
  bool usable() const { return rows_in_group_ > 0 && period_ > 0 && inner_ > 0; }
  std::size_t operator()(std::int64_t index) const {
    const std::int64_t row = index / inner_ / period_;
    const std::int64_t within = index / inner_ % period_;
    return static_cast<std::size_t>(row / rows_in_group_ * period_ + within);
  }

 private:
  std::int64_t inner_ = 0, period_ = 0, rows_in_group_ = 0, channels_ = 0;
};

Tensor rounded(onnx::DType dtype, std::vector<std::int64_t> dims, const Reals& values) {
  const auto width = static_cast<std::size_t>(base::bit_width(dtype) / 8);
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i)
    onnx::store_real(dtype, values[i], bytes->data() + i * width);
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.data = bytes->data();
  tensor.owner = std::move(bytes);
  return tensor;
}

bool can_take(const Node* node) {
  if (node->is("Gemm")) return plain_gemm(node);
  return node->is("Conv") || node->is("ConvTranspose");
}

std::string folded_name(const ValueInfo* value) { return value->name + "_folded"; }

bool only_output_used(const Node* norm) {
  for (std::size_t i = 1; i < norm->outputs.size(); ++i)
    if (norm->outputs[i] != nullptr && onnx::has_uses(norm->outputs[i])) return false;
  return norm->output() != nullptr;
}

// The bias, with the normalisation worked in.
std::optional<Reals> new_bias(const Node* node, const Channels& channels, onnx::DType dtype) {
  const std::size_t count = channels.factor.size();
  Reals bias(count, 0.0);
  if (const ValueInfo* old = node->input(2)) {
    const auto values = reals_of(old, dtype);
    if (!values || values->size() != count || (old->shape.size() > 1 && !old->shape[0].is(1)))
      return std::nullopt;
    bias = *values;
  }
  for (std::size_t c = 0; c < count; ++c)
    bias[c] = bias[c] * channels.factor[c] + channels.offset[c];
  return bias;
}

bool fold(Node* norm) {
  if (!norm->is("BatchNormalization") || norm->int_or("training_mode", 0) != 0 ||
      !only_output_used(norm))
    return false;
  ValueInfo* const x = norm->input(0);
  Node* const node = x != nullptr ? x->producer : nullptr;
  if (node == nullptr || !can_take(node) || !used_once(x) || node->graph != norm->graph)
    return false;
  ValueInfo* const weight = node->input(1);
  if (weight == nullptr || weight->constant == nullptr || !used_once(weight)) return false;
  const onnx::DType dtype = weight->constant->dtype;
  if (dtype != onnx::DType::kFloat32 && dtype != onnx::DType::kFloat64) return false;
  const std::vector<std::int64_t> dims = weight->constant->dims;
  if (dims.size() < 2 || weight->constant->missing) return false;
  const ChannelOf channel_of(node, dims);
  const auto channels = channels_of(norm, dtype);
  if (!channel_of.usable() || !channels ||
      channel_of.channels() != static_cast<std::int64_t>(channels->factor.size()) ||
      !can_replace(norm->output(), x))
    return false;
  const auto bias = new_bias(node, *channels, dtype);
  auto values = weight->constant->reals();
  if (!bias || !values) return false;

  for (std::size_t i = 0; i < values->size(); ++i)
    (*values)[i] *= channels->factor[channel_of(static_cast<std::int64_t>(i))];
  onnx::Model& model = *node->graph->model;
  const std::string bias_name =
      node->input(2) != nullptr ? folded_name(node->input(2)) : folded_name(norm->input(2));
  for (ValueInfo* old :
       {weight, node->input(2), norm->input(1), norm->input(2), norm->input(3), norm->input(4)})
    if (old != nullptr) old->is_folded = true;
  onnx::set_input(node, 1, model.add_weight(folded_name(weight), rounded(dtype, dims, *values)));
  const Tensor shifts = rounded(dtype, {static_cast<std::int64_t>(bias->size())}, *bias);
  onnx::set_input(node, 2, model.add_weight(bias_name, shifts));
  return replace(norm->output(), x);
}

}  // namespace

bool fold_batch_norm(onnx::Model& model) {
  // Before opset 14 outputs beyond the first meant training.
  if (opset_of(model) < 9) return false;
  return each_node(model.graph, fold);
}

}  // namespace sardonyx::passes

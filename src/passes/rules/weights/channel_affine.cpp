#include "passes/rules/weights/channel_affine.h"

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "onnx/gen/op.h"
#include "onnx/graph/recipe.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::ChannelScale;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

bool plain_gemm(const Node* node) {
  return node->is(Op::kGemm) && node->float_or("alpha", 1) == 1 && node->float_or("beta", 1) == 1;
}

// How the weight's elements belong to output channels; dims as the operator lays them out.
ChannelScale layout_of(const Node* node, const std::vector<std::int64_t>& dims) {
  std::int64_t inner = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) inner *= dims[i];
  if (node->is(Op::kConvTranspose)) {  // [inputs, outputs / groups, ...]
    const std::int64_t groups = node->int_or("group", 1);
    const std::int64_t rows = groups > 0 ? dims[0] / groups : 0;
    return {.factors = {}, .inner = inner, .period = dims[1], .rows = rows};
  }
  if (node->is(Op::kGemm) && node->int_or("transB", 0) == 0)  // [inputs, outputs]
    return {.factors = {}, .inner = 1, .period = dims[1], .rows = dims[0]};
  return {.factors = {}, .inner = inner * dims[1], .period = dims[0], .rows = 1};
}

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

// The bias with the affine worked in; nothing where the old one is not what it should be.
std::optional<Reals> new_bias(const Node* node, const ChannelAffine& affine, onnx::DType dtype) {
  const std::size_t count = affine.factor.size();
  Reals bias(count, 0.0);
  if (const ValueInfo* old = node->input(2)) {
    const auto values = reals_of(old, dtype);
    if (!values || values->size() != count || (old->shape.size() > 1 && !old->shape[0].is(1)))
      return std::nullopt;
    bias = *values;
  }
  for (std::size_t c = 0; c < count; ++c) bias[c] = bias[c] * affine.factor[c] + affine.offset[c];
  return bias;
}

std::string folded_name(std::string_view name) {
  return name.ends_with("_folded") ? std::string(name) : std::string(name) + "_folded";
}

}  // namespace

std::optional<Reals> reals_of(const ValueInfo* value, onnx::DType dtype) {
  if (value == nullptr || value->constant == nullptr || value->constant->dtype != dtype)
    return std::nullopt;
  return value->constant->reals();
}

Node* affine_taker(const ValueInfo* x, const Node* reader, RuleContext& context) {
  Node* const node = x != nullptr ? x->producer : nullptr;
  if (node == nullptr || !(node->is(Op::kConv) || node->is(Op::kConvTranspose) || plain_gemm(node)))
    return nullptr;
  const auto decline = [&](const char* reason) {
    context.decline(reader, reason);
    return nullptr;
  };
  if (node->graph != reader->graph) return decline("it stands in another graph");
  if (!used_once(x)) return decline("something else reads what it would be folded into");
  const ValueInfo* weight = node->input(1);
  if (weight == nullptr || weight->constant == nullptr) return decline("the weight is no constant");
  if (!used_once(weight)) return decline("something else reads the weight");
  const Tensor& tensor = *weight->constant;
  const bool real = tensor.dtype == onnx::DType::kFloat32 || tensor.dtype == onnx::DType::kFloat64;
  if (!real) return decline("the weight is neither float32 nor float64");
  if (tensor.dims.size() < 2 || tensor.data == nullptr) return decline("the weight has no data");
  return node;
}

std::int64_t channels_of(const Node* node) {
  const auto& dims = node->input(1)->constant->dims;
  if (node->is(Op::kConvTranspose)) return dims[1] * node->int_or("group", 1);
  return node->is(Op::kGemm) && node->int_or("transB", 0) == 0 ? dims[1] : dims[0];
}

void apply_affine(Patch& patch, Node* node, const ChannelAffine& affine,
                  std::string_view bias_name) {
  ValueInfo* const weight = node->input(1);
  ValueInfo* const old_bias = node->input(2);
  const Tensor& data = *weight->constant;
  ChannelScale scale = layout_of(node, data.dims);
  if (scale.inner <= 0 || scale.period <= 0 || scale.rows <= 0)
    return patch.fail("the weight has no elements");
  const auto count = static_cast<std::size_t>(channels_of(node));
  if (affine.factor.size() != count || affine.offset.size() != count)
    return patch.fail("it has not one factor for each channel of the weight");
  bool identity = true;
  for (const double factor : affine.factor) {
    if (!std::isfinite(factor)) return patch.fail("a factor is not finite");
    identity = identity && factor == 1;
  }
  const auto bias = new_bias(node, affine, data.dtype);
  if (!bias) return patch.fail("the bias is no constant with an entry a channel");

  if (!identity) {
    scale.factors = affine.factor;
    patch.set_input(node, 1,
                    patch.weight(folded_name(weight->name), onnx::scaled(data, std::move(scale))));
    patch.fold_in(weight);
  }
  if (old_bias != nullptr) patch.fold_in(old_bias);
  const std::string name =
      folded_name(old_bias != nullptr ? std::string_view(old_bias->name) : bias_name);
  const auto channels = static_cast<std::int64_t>(bias->size());
  patch.set_input(node, 2, patch.weight(name, rounded(data.dtype, {channels}, *bias)));
}

}  // namespace sardonyx::passes

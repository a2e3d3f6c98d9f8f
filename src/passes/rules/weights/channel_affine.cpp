#include "passes/rules/weights/channel_affine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx/fold/formula.h"
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

// The bias with the affine worked in; nothing where the old one is not what it should be.
std::optional<Tensor> new_bias(const Node* node, const ChannelAffine& affine, onnx::DType dtype) {
  const std::int64_t count = affine.factor.dims[0];
  Tensor bias = numbers(count, 0);
  if (const ValueInfo* old = node->input(2)) {
    const auto values = doubles_of(old, dtype);
    if (!values || values->dims[0] != count || (old->shape.size() > 1 && !old->shape[0].is(1)))
      return std::nullopt;
    bias = *values;
  }
  const Tensor sum =
      onnx::computed("Add", {onnx::computed("Mul", {bias, affine.factor}), affine.offset});
  return onnx::computed("Cast", {sum}, {{"to", dtype, {}}});
}

// Whether float16 holds the scaled weight as well as the weight: no channel's largest element is
// beyond its range, or so small that the others lose more than its own rounding.
bool fits_float16(const Tensor& weight, const ChannelScale& scale) {
  constexpr double kMax = 65504, kMin = 0x1p-13;
  const auto values = weight.reals();
  if (!values) return false;
  std::map<std::size_t, double> largest;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const std::size_t channel = scale.channel(static_cast<std::int64_t>(i));
    double& most = largest[channel];
    most = std::max(most, std::abs((*values)[i] * scale.factors[channel]));
  }
  return std::ranges::all_of(largest, [](const auto& each) {
    return each.second == 0 || (each.second >= kMin && each.second <= kMax);
  });
}

std::string folded_name(std::string_view name) {
  return name.ends_with("_folded") ? std::string(name) : std::string(name) + "_folded";
}

}  // namespace

Tensor number(double value) { return Tensor::filled(onnx::DType::kFloat64, {}, value); }

Tensor numbers(std::int64_t count, double value) {
  return Tensor::filled(onnx::DType::kFloat64, {count}, value);
}

std::optional<Tensor> doubles_of(const ValueInfo* value, onnx::DType dtype) {
  if (value == nullptr || value->constant == nullptr || value->constant->dtype != dtype)
    return std::nullopt;
  const Tensor& tensor = *value->constant;
  if (tensor.data == nullptr || tensor.element_count() == 0) return std::nullopt;
  Tensor flat = onnx::recorded(*value);
  if (tensor.dims.size() != 1)
    flat = onnx::computed("Reshape", {flat, Tensor::of_ints(std::vector<std::int64_t>{-1}, {1})});
  return onnx::computed("Cast", {flat}, {{"to", onnx::DType::kFloat64, {}}});
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
  using enum onnx::DType;
  const bool is_real = tensor.dtype == kFloat32 || tensor.dtype == kFloat64 ||
                       tensor.dtype == kFloat16 || tensor.dtype == kBFloat16;
  if (!is_real) return decline("the weight is of no floating-point type that is computed in");
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
  const std::int64_t count = channels_of(node);
  if (affine.factor.dims[0] != count || affine.offset.dims[0] != count)
    return patch.fail("it has not one factor for each channel of the weight");
  std::vector<double> factors = affine.factor.reals().value();
  bool identity = !onnx::has_origin(affine.factor);
  for (const double factor : factors) {
    if (!std::isfinite(factor)) return patch.fail("a factor is not finite");
    identity = identity && factor == 1;
  }
  auto bias = new_bias(node, affine, data.dtype);
  if (!bias) return patch.fail("the bias is no constant with an entry a channel");

  if (!identity) {
    scale.factors = std::move(factors);
    if (data.dtype == onnx::DType::kFloat16 && !fits_float16(data, scale))
      return patch.fail("float16 does not hold the scaled weight");
    scale.origin = std::make_shared<const Tensor>(onnx::without_data(affine.factor));
    patch.set_input(node, 1,
                    patch.weight(folded_name(weight->name), onnx::scaled(data, std::move(scale))));
    patch.fold_in(weight);
  }
  if (old_bias != nullptr) patch.fold_in(old_bias);
  const std::string name =
      folded_name(old_bias != nullptr ? std::string_view(old_bias->name) : bias_name);
  patch.set_input(node, 2, patch.weight(name, *std::move(bias)));
}

}  // namespace sardonyx::passes

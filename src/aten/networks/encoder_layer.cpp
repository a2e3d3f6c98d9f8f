#include "aten/networks/encoder_layer.h"

#include <array>
#include <cmath>
#include <limits>

#include "aten/elementwise/operands.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

Value affine(Emit& onnx, Value x, Value weight, Value bias) {
  return onnx.add(onnx.matmul(x, onnx.swap_axes(weight, 0, 1)), bias);
}

// True in a mask leaves a position out, and so does any other number that is not 0. mask_type 0: a
// mask [T, S] of all; 1: the padding [N, S] of the keys; 2: [N, heads, T, S].
Value left_out(const Call& call, Emit& onnx) {
  const Value mask = onnx.cast(call.tensor("mask"), DType::kBool);
  if (call.optional_integer("mask_type") == 1) return onnx.unsqueeze(mask, {1, 2});
  return onnx.with_rank(mask, 4);
}

struct Attention {
  Value output;   // [N, T, E]
  Value weights;  // [N, heads, T, S]
};

Attention attend(const Call& call, Emit& onnx, const std::array<Value, 3>& inputs,
                 std::string_view heads_name) {
  const Value weight = call.tensor("qkv_weight"), bias = call.tensor("qkv_bias");
  const std::int64_t size = call.integer("embed_dim"), heads = call.integer(heads_name);
  const DType dtype = computing_type(inputs[0].dtype());
  std::array<Value, 3> projected;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto first = static_cast<std::int64_t>(i) * size;
    const Value part = affine(onnx, inputs[i], onnx.slice(weight, 0, first, first + size),
                              onnx.slice(bias, 0, first, first + size));
    const Shape split = {part.dim(0), part.dim(1), heads, size / heads};
    projected[i] = onnx.transpose(onnx.cast(onnx.reshape(part, split), dtype), {0, 2, 1, 3});
  }
  const double scale = 1 / std::sqrt(static_cast<double>(size / heads));
  const Value query = onnx.mul(projected[0], onnx.scalar(scale, dtype));
  Value scores = onnx.matmul(query, onnx.swap_axes(projected[1], -1, -2));
  if (call.has("mask")) {
    const double lowest = -std::numeric_limits<double>::infinity();
    scores = onnx.where(left_out(call, onnx), onnx.scalar(lowest, dtype), scores);
  }
  const Value weights = onnx.softmax(scores, {.axis = -1});
  const Value mixed = onnx.transpose(onnx.matmul(weights, projected[2]), {0, 2, 1, 3});
  const Value joined = onnx.reshape(onnx.cast(mixed, inputs[0].dtype()), inputs[0].shape());
  return {affine(onnx, joined, call.tensor("proj_weight"), call.tensor("proj_bias")),
          onnx.cast(weights, inputs[0].dtype())};
}

Value normalized(const Call& call, Emit& onnx, Value x, std::string_view number) {
  const Value weight = call.tensor("norm_weight_" + std::string(number));
  const Value bias = call.tensor("norm_bias_" + std::string(number));
  return onnx.layer_normalization(x, weight, bias,
                                  {.axis = -1, .epsilon = static_cast<float>(call.number("eps"))});
}

}  // namespace

Outputs native_multi_head_attention(const Call& call, Emit& onnx) {
  const std::array<Value, 3> inputs = {call.tensor("query"), call.tensor("key"),
                                       call.tensor("value")};
  const Attention found = attend(call, onnx, inputs, "num_head");
  if (!call.flag("need_weights")) return {found.output};
  const bool average = call.flag("average_attn_weights");
  return {found.output,
          average ? onnx.reduce("ReduceMean", found.weights, Ints64{1}, false) : found.weights};
}

// x plus attention of it, plus two linear layers of that; normalized before or after each.
Outputs transformer_encoder_layer(const Call& call, Emit& onnx) {
  const Value src = call.tensor("src");
  const bool before = call.flag("norm_first");
  Value x = before ? normalized(call, onnx, src, "1") : src;
  x = onnx.add(attend(call, onnx, {x, x, x}, "num_heads").output, src);
  if (!before) x = normalized(call, onnx, x, "1");
  const Value inner = before ? normalized(call, onnx, x, "2") : x;
  const Value hidden = affine(onnx, inner, call.tensor("ffn_weight_1"), call.tensor("ffn_bias_1"));
  const Value active = call.flag("use_gelu") ? onnx.gelu(hidden) : onnx.relu(hidden);
  const Value fed = affine(onnx, active, call.tensor("ffn_weight_2"), call.tensor("ffn_bias_2"));
  x = onnx.add(fed, x);
  return {before ? x : normalized(call, onnx, x, "2")};
}

}  // namespace sardonyx::aten

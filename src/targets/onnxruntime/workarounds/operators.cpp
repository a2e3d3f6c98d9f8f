#include "targets/onnxruntime/workarounds/operators.h"

#include <algorithm>
#include <span>

#include "targets/gen/microsoft.h"

namespace sardonyx::targets::microsoft {
namespace {

constexpr std::string_view kDomain = "com.microsoft";

// As ONNX's own operator.
void as(onnx::Op op, std::span<const onnx::InferenceRule> rules, onnx::Inference& node) {
  std::ranges::find(rules, op, &onnx::InferenceRule::op)->infer(node);
}

// What is added and the activation change nothing.
void convolution(onnx::Inference& node) { as(onnx::Op::kConv, onnx::window_rules(), node); }

void like_first(onnx::Inference& node) { node.same_as(0, 0); }

// [batch, length, width] by weights of [width, q + k + v], where v is as wide as q and k.
void packed_attention(onnx::Inference& node) {
  if (!node.has_rank(0) || !node.has_rank(1)) return;
  if (node.rank(0) != 3 || node.rank(1) != 2) node.fail("it takes rows of batches and a matrix");
  onnx::Shape shape = node.shape(0);
  const onnx::Expr width = node.shape(1)[1];
  shape[2] = width.is_constant() ? onnx::Expr(width.value() / 3) : onnx::Expr();
  node.set_shape(0, std::move(shape));
}

// [batch, length, heads * size], or with keys and values behind the queries of each token.
void group_query_attention(onnx::Inference& node) {
  if (!node.has_rank(0)) return;
  if (node.rank(0) != 3) node.fail("it takes rows of batches");
  onnx::Shape shape = node.shape(0);
  const std::int64_t heads = node.integer("num_heads", 0), groups = node.integer("kv_num_heads", 0);
  if (heads <= 0 || groups <= 0 || heads % groups != 0)
    node.fail("heads of keys and values are not shared by as many of queries each");
  const bool packed = !node.has(1);
  const onnx::Expr width = shape[2], length = shape[1];
  onnx::Expr size;
  if (width.is_constant()) size = width.value() / (packed ? heads + 2 * groups : heads);
  shape[2] = size * onnx::Expr(heads);
  onnx::Expr past(0);
  if (node.has(3)) past = node.has_rank(3, 4) ? node.shape(3)[2] : onnx::Expr();
  for (const std::size_t cache : {std::size_t{1}, std::size_t{2}}) {
    node.set_dtype(cache, node.has(3) ? node.dtype(3) : node.dtype(0));
    node.set_shape(cache, {shape[0], groups, past + length, size});
  }
  node.set_shape(0, std::move(shape));
}

// [batch, length, heads * size], and keys and values of the past and now.
void multi_head_attention(onnx::Inference& node) {
  const std::int64_t heads = node.integer("num_heads", 0);
  if (heads <= 0 || !node.has_rank(0, 3) || !node.has_rank(1, 3) || !node.has_rank(2, 3)) return;
  onnx::Shape shape = node.shape(0);
  const onnx::Expr batch = shape[0], width = node.shape(2)[2];
  shape[2] = width;
  for (const std::size_t cache : {std::size_t{1}, std::size_t{2}}) {
    const onnx::Expr all = node.shape(cache)[2], length = node.shape(cache)[1];
    const std::size_t past = cache + 5;
    const onnx::Expr before = !node.has(past)          ? onnx::Expr(0)
                              : node.has_rank(past, 4) ? node.shape(past)[2]
                                                       : onnx::Expr();
    const onnx::Expr size = all.is_constant() ? onnx::Expr(all.value() / heads) : onnx::Expr();
    node.set_dtype(cache, node.dtype(0));
    node.set_shape(cache, {batch, heads, before + length, size});
  }
  node.set_shape(0, std::move(shape));
}

void linear_attention(onnx::Inference& node) {
  as(onnx::Op::kLinearAttention, onnx::attention_rules(), node);
}

// Half as wide as what goes in.
void gated_gelu(onnx::Inference& node) {
  node.set_dtype(0, node.dtype(0));
  if (!node.has_rank(0) || node.rank(0) == 0) return;
  onnx::Shape shape = node.shape(0);
  const onnx::Expr width = shape.back();
  shape.back() = width.is_constant() ? onnx::Expr(width.value() / 2) : onnx::Expr();
  node.set_shape(0, std::move(shape));
}

void skip_normalization(onnx::Inference& node) {
  node.same_as(0, 0);
  node.same_as(3, 0);
}

}  // namespace

const onnx::ForeignOperator kActivatedConvolution = {kDomain, 1, "FusedConv", &kFusedConv,
                                                     convolution};
const onnx::ForeignOperator kPackedAttention = {kDomain, 1, "Attention", &kAttention,
                                                packed_attention};
const onnx::ForeignOperator kGeluOfSum = {kDomain, 1, "BiasGelu", &kBiasGelu, like_first};
const onnx::ForeignOperator kGatedGeluOfSum = {kDomain, 1, "BiasSplitGelu", &kBiasSplitGelu,
                                               gated_gelu};
const onnx::ForeignOperator kFastGeluOfSum = {kDomain, 1, "FastGelu", &kFastGelu, like_first};
const onnx::ForeignOperator kCachedAttention = {kDomain, 1, "GroupQueryAttention",
                                                &kGroupQueryAttention, group_query_attention};
const onnx::ForeignOperator kExperts = {kDomain, 1, "MoE", &kMoE, like_first};
const onnx::ForeignOperator kHeadsOfAttention = {kDomain, 1, "MultiHeadAttention",
                                                 &kMultiHeadAttention, multi_head_attention};
const onnx::ForeignOperator kRecurrentAttention = {kDomain, 1, "LinearAttention", &kLinearAttention,
                                                   linear_attention};
const onnx::ForeignOperator kNormalizationOfSum = {kDomain, 1, "SkipLayerNormalization",
                                                   &kSkipLayerNormalization, skip_normalization};
const onnx::ForeignOperator kRmsNormalizationOfSum = {
    kDomain, 1, "SkipSimplifiedLayerNormalization", &kSkipSimplifiedLayerNormalization,
    skip_normalization};
const onnx::ForeignOperator kRotatedHeads = {kDomain, 1, "RotaryEmbedding", &kRotaryEmbedding,
                                             like_first};
const onnx::ForeignOperator kSwish = {kDomain, 1, "QuickGelu", &kQuickGelu, like_first};

}  // namespace sardonyx::targets::microsoft

// Scaled dot-product attention, spelled out so that any runtime can run it and fuse it.
#include <cmath>
#include <limits>

#include "aten/families.h"
#include "aten/networks/encoder_layer.h"
#include "aten/random/dropout.h"

namespace sardonyx::aten {
namespace {

struct Heads {
  Value query, key, value;
};

// How many query heads share a key head; at run time they must share alike.
Expr group_size(const Heads& heads) {
  const Expr query_heads = heads.query.dim(-3), key_heads = heads.key.dim(-3);
  const Expr group = symbolic::exact_quotient(query_heads, key_heads);
  return group.known() ? group : floor_div(query_heads, key_heads);
}

// x @ y where a group of heads of x shares one of y: [B, Hkv * G, L, D] is taken as
// [B, Hkv, G * L, D], so that nothing is repeated.
Value matmul_by_group(Emit& onnx, Value x, Value y, Expr group) {
  if (group.is(1)) return onnx.matmul(x, y);
  Shape joined = x.shape(), result = x.shape();
  joined[joined.size() - 3] = y.dim(-3);
  joined[joined.size() - 2] = x.dim(-2) * group;
  result.back() = y.dim(-1);
  return onnx.reshape(onnx.matmul(onnx.reshape(x, joined), y), result);
}

// What is added to the scores: 0 where a position may be attended to, -infinity where not.
Value additive(Emit& onnx, Value mask, DType dtype) {
  if (mask.dtype() != DType::kBool) return onnx.cast(mask, dtype);
  return onnx.where(mask, onnx.zero(dtype),
                    onnx.scalar(-std::numeric_limits<double>::infinity(), dtype));
}

// True [L, S] on and under the diagonal that starts at the top left.
Value causal_mask(Emit& onnx, Expr rows, Expr columns) {
  return onnx.less_or_equal(onnx.range(columns), onnx.unsqueeze(onnx.range(rows), {1}));
}

// True [..., L, 1] for the rows of a mask that see nothing at all.
Value sees_nothing(Emit& onnx, Value mask) {
  if (mask.rank() == 0) mask = onnx.unsqueeze(mask, {0});
  if (mask.dtype() == DType::kBool) {
    const Value seen = onnx.reduce("ReduceMax", onnx.cast(mask, DType::kInt32),
                                   std::vector<std::int64_t>{-1}, /*keep_dims=*/true);
    return onnx.not_(onnx.cast(seen, DType::kBool));
  }
  const Value best =
      onnx.reduce("ReduceMax", mask, std::vector<std::int64_t>{-1}, /*keep_dims=*/true);
  return onnx.equal(best, onnx.scalar_like(-std::numeric_limits<double>::infinity(), best));
}

struct Form {
  Value mask;  // absent: every position is seen
  bool causal = false;
  std::optional<double> scale;
  bool grouped = false;
  double dropout = 0;
};

struct Attended {
  Value result;
  Value scores;  // before their softmax
};

Attended attend(Emit& onnx, Heads heads, Form form) {
  // Scores of bfloat16 have too few digits for their softmax; PyTorch keeps them in float32 too.
  const DType given = heads.query.dtype();
  const DType dtype = given == DType::kBFloat16 ? DType::kFloat32 : given;
  heads = {onnx.cast(heads.query, dtype), onnx.cast(heads.key, dtype),
           onnx.cast(heads.value, dtype)};
  const Expr group = form.grouped ? group_size(heads) : Expr(1);

  Value query = heads.query;
  if (form.scale) {
    query = onnx.mul(query, onnx.scalar(*form.scale, dtype));
  } else if (heads.query.dim(-1).is_constant()) {
    const double size = static_cast<double>(heads.query.dim(-1).value());
    query = onnx.mul(query, onnx.scalar(1.0 / std::sqrt(size), dtype));
  } else {
    query = onnx.div(query, onnx.sqrt(onnx.cast(onnx.size(heads.query.dim(-1)), dtype)));
  }

  Value scores = matmul_by_group(onnx, query, onnx.swap_axes(heads.key, -1, -2), group);
  Value mask = form.mask;
  if (form.causal) {
    const Value causal = causal_mask(onnx, heads.query.dim(-2), heads.key.dim(-2));
    scores = onnx.add(scores, additive(onnx, causal, dtype));
  }
  if (mask) scores = onnx.add(scores, additive(onnx, mask, dtype));
  const Value weights = dropped(onnx, onnx.softmax(scores, {.axis = -1}), form.dropout);
  Value result = matmul_by_group(onnx, weights, heads.value, group);
  // A row that may attend to nothing is zero in PyTorch; its softmax is NaN.
  if (mask) result = onnx.where(sees_nothing(onnx, mask), onnx.zero(dtype), result);
  return {onnx.cast(result, given), scores};
}

Outputs scaled_dot_product_attention(const Call& call, Emit& onnx) {
  return {attend(onnx, {call.tensor("query"), call.tensor("key"), call.tensor("value")},
                 {.mask = call.optional_tensor("attn_mask"),
                  .causal = call.flag("is_causal"),
                  .scale = call.optional_number("scale"),
                  .grouped = call.flag("enable_gqa"),
                  .dropout = call.number("dropout_p")})
              .result};
}

// The CPU kernel that decomposed programs call; its second output serves the backward pass.
Outputs flash_attention_for_cpu(const Call& call, Emit& onnx) {
  if (call.number("dropout_p") != 0) call.refuse("dropout, as PyTorch's kernel does");
  // The kernel shares heads of keys and values among those of the query without being told to.
  const Heads heads = {call.tensor("query"), call.tensor("key"), call.tensor("value")};
  const Attended attended = attend(onnx, heads,
                                   {.mask = call.optional_tensor("attn_mask"),
                                    .causal = call.flag("is_causal"),
                                    .scale = call.optional_number("scale"),
                                    .grouped = !(heads.query.dim(-3) == heads.key.dim(-3))});
  if (!call.uses_output(1)) return {attended.result};
  const std::vector<std::int64_t> last = {-1};
  const Value scores = onnx.cast(attended.scores, call.result_dtype(1));
  return {attended.result, onnx.reduce("ReduceLogSumExp", scores, last, false)};
}

constexpr Row kRows[] = {
    {"aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, "
     "int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "
     "Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, int? "
     "mask_type=None) -> (Tensor, Tensor)",
     native_multi_head_attention},
    {"aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
     "float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> "
     "(Tensor output, Tensor logsumexp)",
     flash_attention_for_cpu},
    {"aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor "
     "qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool "
     "norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, "
     "Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor "
     "ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
     transformer_encoder_layer},
    {"aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
     "attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, bool "
     "enable_gqa=False) -> Tensor",
     scaled_dot_product_attention},
};

}  // namespace

std::span<const Row> attention_rows() { return kRows; }

}  // namespace sardonyx::aten

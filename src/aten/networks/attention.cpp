// Scaled dot-product attention.
#include "onnx/definitions/attention.h"

#include <algorithm>

#include "aten/families.h"
#include "aten/networks/encoder_layer.h"
#include "aten/random/dropout.h"

namespace sardonyx::aten {
namespace {

using onnx::AttentionForm;

// What ONNX's Attention says as well: heads of one batch, and a scale that float32 holds.
bool has_operator(const AttentionForm& form, double dropout) {
  const auto images = [](Value x) { return x.rank() == 4; };
  if (dropout != 0 || !images(form.query) || !images(form.key) || !images(form.value)) return false;
  if (!form.grouped && !(form.query.dim(1) == form.key.dim(1))) return false;
  const Expr batch = form.query.dim(0);
  if (!(form.key.dim(0) == batch) || !(form.value.dim(0) == batch)) return false;
  return !form.scale || form.query.dtype() != DType::kFloat64;
}

Value attended(Emit& onnx, AttentionForm form, bool causal, double dropout) {
  if (!has_operator(form, dropout)) {
    if (causal) form.seen_by_place = onnx::causal_mask(onnx, form.query.dim(-2), form.key.dim(-2));
    form.on_weights = [&](Value weights) { return dropped(onnx, weights, dropout); };
    return onnx::attend(onnx, form).result;
  }
  Value mask = form.mask;
  if (mask && mask.dtype() != DType::kBool) mask = onnx.cast(mask, form.query.dtype());
  if (mask) mask = onnx.with_rank(mask, 2);
  onnx::AttentionAttributes attributes{.is_causal = causal ? 1 : 0};
  if (form.scale) attributes.scale = static_cast<float>(*form.scale);
  return onnx.attention(form.query, form.key, form.value, mask, {}, {}, {}, attributes);
}

bool is_empty(Value x) {
  return std::ranges::any_of(x.shape(), [](const Expr& size) { return size.is(0); });
}

Outputs scaled_dot_product_attention(const Call& call, Emit& onnx) {
  const AttentionForm form{.query = call.tensor("query"),
                           .key = call.tensor("key"),
                           .value = call.tensor("value"),
                           .mask = call.optional_tensor("attn_mask"),
                           .scale = call.optional_number("scale"),
                           .grouped = call.flag("enable_gqa")};
  // PyTorch answers each query with 0 then, also where the batches do not go together.
  if (is_empty(form.key) || is_empty(form.value)) {
    return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
  }
  return {attended(onnx, form, call.flag("is_causal"), call.number("dropout_p"))};
}

// The CPU kernel that decomposed programs call; its second output serves the backward pass.
Outputs flash_attention_for_cpu(const Call& call, Emit& onnx) {
  if (call.number("dropout_p") != 0) call.refuse("dropout, as PyTorch's kernel does");
  AttentionForm form{.query = call.tensor("query"),
                     .key = call.tensor("key"),
                     .value = call.tensor("value"),
                     .mask = call.optional_tensor("attn_mask"),
                     .scale = call.optional_number("scale")};
  // The kernel shares heads of keys and values among those of the query without being told to.
  form.grouped = !(form.query.dim(-3) == form.key.dim(-3));
  const bool causal = call.flag("is_causal");
  if (!call.uses_output(1)) return {attended(onnx, form, causal, 0)};
  if (causal) form.seen_by_place = onnx::causal_mask(onnx, form.query.dim(-2), form.key.dim(-2));
  const onnx::Attended both = onnx::attend(onnx, form);
  const std::vector<std::int64_t> last = {-1};
  const Value scores = onnx.cast(both.scores, call.result_dtype(1));
  return {both.result, onnx.reduce("ReduceLogSumExp", scores, last, false)};
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

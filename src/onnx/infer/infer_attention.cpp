// Attention and what language models put round it.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

// Q [batch, heads, length, size], or [batch, length, heads * size] with the heads as attributes.
// Inputs: Q, K, V, mask, past key, past value.
void attention(Inference& node) {
  if (!node.has_rank(0, 3) || !node.has_rank(1, 3) || !node.has_rank(2, 3)) return;
  const Shape& q = node.shape(0);
  const Shape& k = node.shape(1);
  const Shape& v = node.shape(2);
  const bool flat = q.size() == 3;
  if (k.size() != q.size() || v.size() != q.size() || q.size() > 4)
    node.fail("the ranks of query, key and value differ");
  const Expr q_heads = flat ? Expr(node.integer("q_num_heads", 0)) : q[1];
  const Expr kv_heads = flat ? Expr(node.integer("kv_num_heads", 0)) : k[1];
  if (flat && (q_heads.is(0) || kv_heads.is(0))) node.fail("the numbers of heads are not given");
  const auto head_size = [&](const Shape& shape) {
    return flat ? symbolic::exact_quotient(shape[2], kv_heads) : shape[3];
  };
  const Expr key_length = k[flat ? 1 : 2];
  Expr total = key_length;
  if (node.has(4)) total = node.has_rank(4, 4) ? node.shape(4)[2] + key_length : Expr();
  const Expr value_size = head_size(v);
  if (flat)
    node.set_shape(0, {q[0], q[1], q_heads * value_size});
  else
    node.set_shape(0, {q[0], q[1], q[2], value_size});
  node.set_shape(1, {q[0], kv_heads, total, head_size(k)});
  node.set_shape(2, {q[0], kv_heads, total, value_size});
  node.set_shape(3, {q[0], q_heads, q[flat ? 1 : 2], total});
  for (std::size_t o = 1; o < node.outputs(); ++o)
    node.set_dtype(o, node.dtype(o == 1 ? 1 : o == 2 ? 2 : 0));
}

void like_data(Inference& node) { node.same_as(0, 0); }

// Query [batch, length, q_heads * key size], key and value with kv_heads, past state [batch,
// kv_heads, key size, value size], which has a type of its own.
void linear_attention(Inference& node) {
  node.set_dtype(1, node.has(3) ? node.dtype(3) : node.dtype(0));
  const std::int64_t heads = node.integer("kv_num_heads", 0);
  if (heads <= 0 || !node.has_rank(0, 3) || !node.has_rank(1, 3) || !node.has_rank(2, 3)) {
    if (node.has_rank(3)) node.set_shape(1, node.shape(3));
    return;
  }
  const Shape& query = node.shape(0);
  const Expr value_size = symbolic::exact_quotient(node.shape(2)[2], heads);
  node.set_shape(0, {query[0], query[1], value_size * node.integer("q_num_heads", 0)});
  node.set_shape(1,
                 {query[0], heads, symbolic::exact_quotient(node.shape(1)[2], heads), value_size});
}

// Input [batch, channels, length], weight [channels, 1, kernel]; the state is what the first window
// reaches back for.
void causal_convolution(Inference& node) {
  node.same_as(0, 0);
  node.set_dtype(1, node.dtype(0));
  if (node.has_rank(3))
    node.set_shape(1, node.shape(3));
  else if (node.has_rank(0, 3) && node.has_rank(1, 3))
    node.set_shape(1, {node.shape(0)[0], node.shape(0)[1], node.shape(1)[2] - 1});
}

constexpr InferenceRule kRules[] = {
    {Op::kAttention, attention},
    {Op::kRotaryEmbedding, like_data},
    {Op::kSwiGLU, like_data},
    {Op::kLinearAttention, linear_attention},
    {Op::kCausalConvWithState, causal_convolution},
};

}  // namespace

std::span<const InferenceRule> attention_rules() { return kRules; }

}  // namespace sardonyx::onnx

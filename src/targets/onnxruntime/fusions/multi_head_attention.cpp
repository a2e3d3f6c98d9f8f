// Before: y, k', v' = Attention(q, k, v, mask, past_k, past_v)
// After:  y, k', v' = com.microsoft.MultiHeadAttention(q, k, v, , , bias, past_k, past_v)
// of q, k and v with heads side by side. A mask of truth values is added as 0 and the lowest
// number; rows that are all false give 0, where the operator would give the mean of all values:
//   y = Mul(com.microsoft.MultiHeadAttention(...), any(mask))
#include <cstdint>
#include <string_view>
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/additive_masks.h"
#include "targets/onnxruntime/fusions/attended_keys.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using symbolic::Expr;

constexpr std::int64_t kMinQueries = 512, kMinBatch = 8;

enum Input : std::uint8_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue };

Expr past_length(const Node* attention) {
  const ValueInfo* past = attention->input(kPastKey);
  return past == nullptr ? Expr(0) : past->shape[2];
}

// Whether the mask has a row for each query and a column for each key.
bool has_all_rows(const ValueInfo* mask, const Node* attention) {
  const ValueInfo *query = attention->input(kQuery), *key = attention->input(kKey);
  return mask->has_rank && mask->shape.size() == 4 && mask->shape[2] == query->shape[1] &&
         mask->shape[3] == past_length(attention) + key->shape[1];
}

// Why the operator does not say what the node does; empty where it does.
std::string_view hindrance(const Node* attention) {
  for (const Input each : {kQuery, kKey, kValue}) {
    const ValueInfo* value = attention->input(each);
    if (value == nullptr || !value->has_rank || value->shape.size() != 3)
      return "its heads are apart";
    for (const Expr& dim : value->shape)
      if (!dim.known()) return "its sizes are not known";
  }
  if (attention->inputs.size() > 6 || attention->outputs.size() > 3)
    return "its scores are read, or its keys have lengths of their own";
  const ValueInfo *past_key = attention->input(kPastKey), *past = attention->input(kPastValue);
  if ((past_key == nullptr) != (past == nullptr)) return "keys have a cache and values none";
  if (past_key != nullptr &&
      (!past_key->has_rank || past_key->shape.size() != 4 || !past_key->shape[2].known()))
    return "its sizes are not known";
  if (attention->float_or("softcap", 0) != 0) return "its scores are capped";
  if (attention->int_or("left_window_size", -1) >= 0 ||
      attention->int_or("right_window_size", -1) >= 0)
    return "its queries see a window of the keys";
  const std::int64_t heads = attention->int_or("q_num_heads", 0);
  if (heads == 0 || heads != attention->int_or("kv_num_heads", 0))
    return "heads share keys and values";
  if (attention->int_or("is_causal", 0) != 0 && (past != nullptr || attention->input(kMask)))
    return "it is causal behind a cache, or with a mask";
  const ValueInfo* mask = attention->input(kMask);
  if (mask == nullptr) return {};
  if (!has_all_rows(mask, attention)) return "the mask has not a row for each query";
  const bool is_truth = mask->dtype == base::DType::kBool;
  if (!is_truth && mask->dtype != attention->input(kQuery)->dtype)
    return "the mask is of another type";
  if (is_truth && !mask->shape[1].is(1)) return "the mask has truth values of each head";
  return {};
}

// Whether the operator is the quicker one: of many queries, with a mask or in many batches.
bool is_long(const Node* attention) {
  const ValueInfo* query = attention->input(kQuery);
  if (query == nullptr || !query->has_rank || query->shape.size() != 3) return false;
  const auto at_least = [&](std::size_t axis, std::int64_t least) {
    return query->shape[axis].is_constant() && query->shape[axis].value() >= least;
  };
  return at_least(1, kMinQueries) && (attention->input(kMask) != nullptr || at_least(0, kMinBatch));
}

bool fuse(Node* attention, rewriting::RuleContext& context) {
  if (!is_long(attention)) return false;
  if (const std::string_view why = hindrance(attention); !why.empty())
    return context.decline(attention, std::string(why));
  rewriting::Patch patch(context, attention);
  AdditiveMasks masks(context.model(), patch, attention, attention->input(kQuery)->dtype);
  ValueInfo* const mask = attention->input(kMask);
  const bool is_truth = mask != nullptr && mask->dtype == base::DType::kBool;
  std::vector<ValueInfo*> inputs = {attention->input(kQuery), attention->input(kKey),
                                    attention->input(kValue)};
  if (mask != nullptr || attention->input(kPastKey) != nullptr)
    inputs.insert(inputs.end(), {nullptr, nullptr, is_truth ? masks.additive(mask) : mask});
  if (attention->input(kPastKey) != nullptr)
    inputs.insert(inputs.end(), {attention->input(kPastKey), attention->input(kPastValue)});
  std::vector<onnx::Attribute> attributes = {
      {"num_heads", attention->int_or("q_num_heads", 0), {}}};
  if (const onnx::Attribute* scale = attention->find("scale")) attributes.push_back(*scale);
  if (attention->int_or("is_causal", 0) != 0)
    attributes.push_back({"unidirectional", std::int64_t{1}, {}});
  const std::vector<ValueInfo*> made =
      patch.nodes(microsoft::kHeadsOfAttention, inputs, attributes, attention->output()->name,
                  attention->outputs.size());
  if (made.empty()) return patch.apply();
  const bool sees_itself =
      is_truth && attended_keys(mask, {.past = past_length(attention)}).has_value();
  ValueInfo* result = made[0];
  if (is_truth && !sees_itself)
    result = patch.node(Op::kMul, {result, masks.any(mask)}, {}, attention->output()->name);
  patch.replace(attention->output(), result);
  for (std::size_t i = 1; i < made.size(); ++i)
    if (attention->output(i) != nullptr) patch.replace(attention->output(i), made[i]);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const rewriting::Rule kMultiHeadAttention = {"multi-head-attention", kRoots, fuse, 23};

}  // namespace sardonyx::targets

// Attention in the one form that NVIDIA's parser documents: four axes, no cache inside.
#include <algorithm>

#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

constexpr std::string_view kSince = "documentation of 11.0, read";
constexpr std::int16_t kFirst = 23;  // the opset that has the operator

bool looks_otherwise(const Use& use) {
  const bool has_window =
      use.integer("left_window_size", -1) >= 0 || use.integer("right_window_size", -1) >= 0;
  // Behind a cache, the first query is not the first position.
  const bool is_late = use.input(4) && use.integer("is_causal", 0) != 0;
  return use.real("softcap", 0) != 0 || use.outputs > 3 || use.input(6) || has_window || is_late;
}

std::vector<Attribute> attributes_but(const Use& use,
                                      std::initializer_list<std::string_view> dropped) {
  std::vector<Attribute> kept(use.attributes.begin(), use.attributes.end());
  std::erase_if(kept, [&](const Attribute& each) {
    return std::ranges::find(dropped, each.name) != dropped.end();
  });
  return kept;
}

// [batch, length, heads * size] -> [batch, heads, length, size]
Value by_heads(Lowering& onnx, Value x, std::int64_t heads) {
  if (x.rank() == 4) return x;
  const Expr size = symbolic::exact_quotient(x.dim(2), Expr(heads));
  return onnx.transpose(onnx.reshape(x, {x.dim(0), x.dim(1), Expr(heads), size}), {0, 2, 1, 3});
}

bool has_ranks(const Use& use) {
  return use.input(0).has_rank() && use.input(1).has_rank() && use.input(2).has_rank();
}

// The first output, of queries, keys and values of four axes.
Value attended(const Use& use, const Rule& rule, Value key, Value value, Value mask) {
  Lowering& onnx = use.onnx;
  std::vector<Value> inputs = {by_heads(onnx, use.input(0), use.integer("q_num_heads", 0)), key,
                               value};
  if (mask) inputs.push_back(mask);
  const Use inner{onnx, use.op, use.inputs, use.attributes, 1, use.node};
  const Value y =
      onnx.without(rule, inner, inputs, attributes_but(use, {"q_num_heads", "kv_num_heads"}))
          .front();
  if (use.input(0).rank() == 4) return y;
  const Value rows = onnx.transpose(y, {0, 2, 1, 3});
  return onnx.reshape(rows, {rows.dim(0), rows.dim(1), rows.dim(2) * rows.dim(3)});
}

bool has_cache(const Use& use) { return use.input(4) || use.outputs > 1; }

// Before: y, present_key, present_value = Attention(q, k, v, mask, past_key, past_value)
// After:  present_key = Concat(past_key, k), present_value = Concat(past_value, v)
//         y = Attention(q, present_key, present_value, mask)
std::optional<Values> with_cache_outside(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  if (!has_ranks(use)) return std::nullopt;
  const std::int64_t heads = use.integer("kv_num_heads", 0);
  Value key = by_heads(onnx, use.input(1), heads), value = by_heads(onnx, use.input(2), heads);
  if (use.input(4)) key = onnx.concat({use.input(4), key}, 2);
  if (use.input(5)) value = onnx.concat({use.input(5), value}, 2);
  Values values = {attended(use, rule, key, value, use.input(3)), key, value};
  values.resize(use.outputs);
  return values;
}

bool is_flat(const Use& use) {
  const auto has_four = [](Value x) { return x.has_rank() && x.rank() == 4; };
  return !has_four(use.input(0)) || (use.input(3) && !has_four(use.input(3)));
}

// Before: Attention<q_num_heads, kv_num_heads>(q [batch, length, heads * size], ..., mask [l, s])
// After:  the same of [batch, heads, length, size] and of a mask [1, 1, l, s]
std::optional<Values> by_four_axes(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  if (!has_ranks(use)) return std::nullopt;
  Value mask = use.input(3);
  if (mask && !mask.has_rank()) return by_definition(use, rule);
  if (mask && mask.rank() < 4) {
    std::vector<std::int64_t> front;
    for (std::int64_t i = 0; i < 4 - mask.rank(); ++i) front.push_back(i);
    mask = onnx.unsqueeze(mask, front);
  }
  const std::int64_t heads = use.integer("kv_num_heads", 0);
  return Values{attended(use, rule, by_heads(onnx, use.input(1), heads),
                         by_heads(onnx, use.input(2), heads), mask)};
}

bool is_no_cache_of_rows(const Use& use) {
  return !use.input(0).has_rank() || use.input(0).rank() != 4 || use.integer("axis", -2) != -2 ||
         use.text("mode", "linear") != "linear";
}

constexpr Rule kRows[] = {
    {.name = "attention-of-other-scores",
     .op = Op::kAttention,
     .reason = Reason::kLacks,
     .first = kFirst,
     .when = looks_otherwise,
     .how = by_definition,
     .why = "the documentation lists Attention without softcap, windows, lengths of an outside "
            "cache and the output of scores; a causal one behind a cache counts from the cache",
     .since = kSince},
    {.name = "attention-of-a-cache",
     .op = Op::kAttention,
     .reason = Reason::kLacks,
     .first = kFirst,
     .when = has_cache,
     .how = with_cache_outside,
     .why = "the documentation lists Attention without past and present keys and values",
     .since = kSince},
    {.name = "attention-of-three-axes",
     .op = Op::kAttention,
     .reason = Reason::kLacks,
     .first = kFirst,
     .when = is_flat,
     .how = by_four_axes,
     .why = "the documentation lists queries, keys, values and masks of 4 axes only",
     .since = kSince},
    {.name = "scatter-into-other-caches",
     .op = Op::kTensorScatter,
     .reason = Reason::kLacks,
     .when = is_no_cache_of_rows,
     .how = by_definition,
     .why = "the documentation lists TensorScatter of 4 axes along the last but one only",
     .since = kSince},
};

}  // namespace

Rules tensorrt_attention_rules() { return kRows; }

}  // namespace sardonyx::targets

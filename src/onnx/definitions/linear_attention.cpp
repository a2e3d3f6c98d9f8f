// LinearAttention decomposed: a state of keys by values that each token decays, corrects and reads.
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "onnx/definitions/parts.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

enum Input : std::size_t { kQuery, kKey, kValue, kPastState, kDecay, kBeta };

struct Sizes {
  Expr batch, length, key, value;
  std::int64_t heads, queries;  // of keys and values; that read the state of one of these
};

// What one token brings, each with the axes of the state: [batch, heads, key, value].
struct Token {
  Value query;  // [batch, heads, queries, key], with its scale
  Value key;    // [batch, heads, key]
  Value value;  // [batch, heads, 1, value]
  Value decay;  // [batch, heads, key or 1, 1], a factor; may be absent
  Value beta;   // [batch, heads or 1, 1, 1]; may be absent
};

// Whether the state is decayed by a token, and whether what it holds of the key is taken off.
struct Rule {
  bool decays, corrects;
};

struct Step {
  Value output, state;  // [batch, heads, queries, value] and the state behind the token
};

Step step(Emit& onnx, const Token& token, Value state) {
  if (token.decay) state = onnx.mul(state, token.decay);
  Value change = token.value;
  if (token.beta) {
    const Value known = onnx.matmul(onnx.unsqueeze(token.key, {2}), state);
    change = onnx.mul(onnx.sub(change, known), token.beta);
  }
  state = onnx.add(state, onnx.mul(onnx.unsqueeze(token.key, {3}), change));
  return {onnx.matmul(token.query, state), state};
}

std::optional<Sizes> sizes_of(const Composite& call) {
  const Value query = call.input(kQuery), key = call.input(kKey), value = call.input(kValue);
  const std::int64_t queries = call.integer("q_num_heads", 0),
                     heads = call.integer("kv_num_heads", 0);
  if (heads <= 0 || queries <= 0 || queries % heads != 0) return std::nullopt;
  for (const Value each : {query, key, value}) {
    if (!each || !each.has_rank() || each.rank() != 3) return std::nullopt;
    for (const Expr dim : each.shape())
      if (!dim.known()) return std::nullopt;
  }
  return Sizes{query.dim(0),
               query.dim(1),
               symbolic::exact_quotient(key.dim(2), heads),
               symbolic::exact_quotient(value.dim(2), heads),
               heads,
               queries / heads};
}

// Nothing for a rule that there is none of, or that lacks what it needs.
std::optional<Rule> rule_of(const Composite& call) {
  const std::string name = call.text("update_rule", "gated_delta");
  const bool decays = name == "gated" || name == "gated_delta",
             corrects = name == "delta" || name == "gated_delta";
  if (!decays && !corrects && name != "linear") return std::nullopt;
  const auto lacks = [&](Input which) {
    const Value given = call.input(which);
    return !given || !given.has_rank() || given.rank() != 3;
  };
  if ((decays && lacks(kDecay)) || (corrects && lacks(kBeta))) return std::nullopt;
  return Rule{decays, corrects};
}

float scale_of(const Composite& call, const Sizes& sizes) {
  const float given = call.real("scale", 0);
  if (given != 0 || !sizes.key.is_constant()) return given;
  return static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.key.value())));
}

// The factor of each token's state, [batch, length, heads, key or 1, 1].
Value factor(Emit& onnx, Value decay, const Sizes& sizes) {
  const Expr width = symbolic::exact_quotient(decay.dim(2), sizes.heads);
  return onnx.exp(onnx.reshape(decay, {sizes.batch, sizes.length, Expr(sizes.heads), width, 1}));
}

// All tokens, each with its length as the second axis.
Token sequences(const Composite& call, const Sizes& sizes, const Rule& rule, DType computed) {
  Emit& onnx = call.onnx;
  const auto input = [&](Input which) { return onnx.cast(call.input(which), computed); };
  const auto [batch, length, key, value, heads, queries] = sizes;
  Token all;
  const Value query = input(kQuery);
  const Value scaled = onnx.mul(query, onnx.scalar_like(scale_of(call, sizes), query));
  all.query = onnx.reshape(scaled, {batch, length, Expr(heads), Expr(queries), key});
  all.key = onnx.reshape(input(kKey), {batch, length, Expr(heads), key});
  all.value = onnx.reshape(input(kValue), {batch, length, Expr(heads), 1, value});
  if (rule.decays) all.decay = factor(onnx, input(kDecay), sizes);
  if (rule.corrects) all.beta = onnx.unsqueeze(input(kBeta), {3, 4});
  return all;
}

// The one token that there is.
Token at_first(Emit& onnx, Token all) {
  for (Value* each : {&all.query, &all.key, &all.value, &all.decay, &all.beta})
    if (*each) *each = onnx.squeeze(*each, {1});
  return all;
}

// One token after the other; the output has its length as the first axis.
Step loop(Emit& onnx, Token all, const Value state) {
  Values given;
  for (Value* each : {&all.query, &all.key, &all.value, &all.decay, &all.beta})
    if (*each) given.push_back(*each = onnx.swap_axes(*each, 0, 1));
  Graph* const body = onnx.begin_body("tokens");
  const Value now = onnx.body_input("state", state.dtype(), state.shape());
  Token token = all;
  for (auto [name, each] : {std::pair("query", &token.query), std::pair("key", &token.key),
                            std::pair("value", &token.value), std::pair("decay", &token.decay),
                            std::pair("beta", &token.beta)}) {
    if (!*each) continue;
    const Shape shape = each->shape();
    *each = onnx.body_input(name, each->dtype(), Shape(shape.begin() + 1, shape.end()));
  }
  const Step next = step(onnx, token, now);
  const Shape shape = next.output.shape();
  onnx.end_body(Values{next.state, next.output});
  const Values found = onnx.scan(Values{state}, given, body);
  // Inference does not look into the loop.
  Shape stacked = {all.query.dim(0)};
  stacked.insert(stacked.end(), shape.begin(), shape.end());
  Emit::set_type(found[0], state.dtype(), state.shape());
  Emit::set_type(found[1], state.dtype(), stacked);
  return {found[1], found[0]};
}

}  // namespace

std::optional<Values> linear_attention(const Composite& call) {
  const std::optional<Sizes> sizes = sizes_of(call);
  const std::optional<Rule> rule = rule_of(call);
  if (!sizes || !rule || scale_of(call, *sizes) == 0) return std::nullopt;
  Emit& onnx = call.onnx;
  const DType type = call.input(kQuery).dtype();
  const DType computed = type == DType::kFloat64 ? type : DType::kFloat32;
  const auto [batch, length, key, value, heads, queries] = *sizes;
  const Value past = call.input(kPastState);
  Value state = past ? onnx.cast(past, computed)
                     : onnx.full(Shape{batch, Expr(heads), key, value}, onnx.zero(computed));
  const Token all = sequences(call, *sizes, *rule, computed);
  Value output;
  if (length.is(1)) {
    const Step only = step(onnx, at_first(onnx, all), state);
    state = only.state;
    output = only.output;
  } else {
    const Step last = loop(onnx, all, state);
    state = last.state;
    output = onnx.swap_axes(last.output, 0, 1);
  }
  output = onnx.reshape(output, {batch, length, value * (heads * queries)});
  return Values{onnx.cast(output, type), onnx.cast(state, past ? past.dtype() : type)};
}

}  // namespace sardonyx::onnx

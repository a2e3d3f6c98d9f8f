#include "onnx/definitions/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/diagnostic.h"
#include "onnx/definitions/parts.h"
#include "onnx/gen/op.h"
#include "onnx/operators/traits.h"

namespace sardonyx::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How many query heads share a key head; at run time they must share alike.
Expr group_size(Value query, Value key) {
  const Expr query_heads = query.dim(-3), key_heads = key.dim(-3);
  if (query_heads == key_heads) return 1;
  const Expr group = symbolic::exact_quotient(query_heads, key_heads);
  return group.known() ? group : floor_div(query_heads, key_heads);
}

// x @ y where a group of heads of x shares one of y: [B, Hkv * G, L, D] is taken as
// [B, Hkv, G * L, D], so that nothing is repeated. One head for all is faster broadcast, in 0.85 to
// 0.92 of the time.
Value matmul_by_group(Emit& onnx, Value x, Value y, Expr group) {
  if (group.is(1) || y.dim(-3).is(1)) return onnx.matmul(x, y);
  Shape joined = x.shape(), result = x.shape();
  joined[joined.size() - 3] = y.dim(-3);
  joined[joined.size() - 2] = x.dim(-2) * group;
  result.back() = y.dim(-1);
  return onnx.reshape(onnx.matmul(onnx.reshape(x, joined), y), result);
}

// What is added to the scores: 0 where a position may be attended to, -infinity where not.
Value additive(Emit& onnx, Value mask, DType dtype) {
  if (mask.dtype() != DType::kBool) return onnx.cast(mask, dtype);
  const Value never = onnx.scalar(-kInfinity, dtype);
  return onnx.where(mask, onnx.zero(dtype), never);
}

// True [..., L, 1] for the rows of an additive mask that see nothing at all.
Value sees_nothing(Emit& onnx, Value mask) {
  if (mask.rank() == 0) mask = onnx.unsqueeze(mask, {0});
  const std::vector<std::int64_t> last = {-1};
  const Value best = onnx.reduce("ReduceMax", mask, last, true);
  return onnx.equal(best, onnx.scalar_like(-kInfinity, best));
}

Value scaled_query(Emit& onnx, Value query, std::optional<double> scale) {
  if (scale) return onnx.mul(query, onnx.scalar_like(*scale, query));
  if (query.dim(-1).is_constant()) {
    const auto size = static_cast<double>(query.dim(-1).value());
    return onnx.mul(query, onnx.scalar_like(1.0 / std::sqrt(size), query));
  }
  return onnx.div(query, onnx.sqrt(onnx.cast(onnx.size(query.dim(-1)), query.dtype())));
}

// [batch, length, heads * size] -> [batch, heads, length, size]
Value split_heads(Emit& onnx, Value x, std::int64_t heads) {
  if (!x || x.rank() == 4) return x;
  if (heads == 1) return onnx.unsqueeze(x, {1});
  const Expr size = symbolic::exact_quotient(x.dim(2), Expr(heads));
  return onnx.transpose(onnx.reshape(x, {x.dim(0), x.dim(1), Expr(heads), size}), {0, 2, 1, 3});
}

Value join_heads(Emit& onnx, Value x) {
  if (x.dim(1).is(1)) return onnx.squeeze(x, {1});
  const Value turned = onnx.transpose(x, {0, 2, 1, 3});
  return onnx.reshape(turned, {turned.dim(0), turned.dim(1), turned.dim(2) * turned.dim(3)});
}

bool has_ranks(const Composite& call) {
  for (std::size_t i = 0; i < 3; ++i) {
    const Value x = call.input(i);
    if (!x || !x.has_rank() || x.rank() < 3 || x.rank() > 4) return false;
    for (const Expr dim : x.shape())
      if (!dim.known()) return false;
  }
  return call.input(0).rank() == call.input(1).rank();
}

// How many keys stand before the first query: those of the past, or those of a cache kept outside
// that are no padding, less the queries, int64 [batch, 1, 1, 1]. Absent where there are none.
Value keys_before(const Composite& call, Value query, Value past) {
  Emit& onnx = call.onnx;
  if (past) return onnx.size(past.dim(-2));
  const Value lengths = call.input(6);
  if (!lengths) return {};
  const Value queries = onnx.size(query.dim(-2));
  return onnx.sub(onnx.unsqueeze(lengths, {1, 2, 3}), queries);
}

// Which keys each query may see by its place, bool [L, S] or [batch, 1, L, S]; absent where all.
Value seen_by_place(const Composite& call, Value query, Value key, Value past) {
  Emit& onnx = call.onnx;
  const std::int64_t left = call.integer("left_window_size", -1);
  std::int64_t right = call.integer("right_window_size", -1);
  if (call.integer("is_causal", 0) != 0) right = right < 0 ? 0 : std::min<std::int64_t>(right, 0);
  if (left < 0 && right < 0 && !call.input(6)) return {};
  const Value keys = onnx.range(key.dim(-2));
  Value seen;
  if (call.input(6)) seen = onnx.less(keys, onnx.unsqueeze(call.input(6), {1, 2, 3}));
  if (left < 0 && right < 0) return seen;
  Value queries = onnx.unsqueeze(onnx.range(query.dim(-2)), {1});
  if (const Value before = keys_before(call, query, past)) queries = onnx.add(queries, before);
  const auto moved = [&](std::int64_t by) {
    return by == 0 ? queries : onnx.add(queries, onnx.int_scalar(by));
  };
  const auto also = [&](Value other) { seen = seen ? onnx.and_(seen, other) : other; };
  if (right >= 0) also(onnx.less_or_equal(keys, moved(right)));
  if (left >= 0) also(onnx.greater_or_equal(keys, moved(-left)));
  return seen;
}

// A mask of fewer keys hides the others; one of a single key is broadcast.
Value mask_of_all_keys(Emit& onnx, Value mask, Value key) {
  if (!mask || !mask.has_rank() || mask.rank() == 0) return mask;
  const Expr given = mask.dim(-1), wanted = key.dim(-2);
  if (!given.is_constant() || !wanted.is_constant() || given.is(1) ||
      given.value() >= wanted.value())
    return mask;
  std::vector<std::int64_t> pads(2 * static_cast<std::size_t>(mask.rank()), 0);
  pads.back() = wanted.value() - given.value();
  const bool is_truth = mask.dtype() == DType::kBool;
  const Value hidden = is_truth ? onnx.bool_scalar(false) : onnx.scalar_like(-kInfinity, mask);
  return onnx.pad(mask, onnx.ints(pads), hidden);
}

}  // namespace

// What is made of numbers by moving, choosing and scaling them has it only where they do.
namespace {

// `budget`: how many values are looked at, of which some graphs have more paths than anybody can
// walk.
template <class Holds>
bool are_all(const ValueInfo* constant, const Holds& holds) {
  if (constant == nullptr || constant->constant == nullptr) return false;
  const auto reals = constant->constant->reals();
  return reals && std::ranges::all_of(*reals, holds);
}

// Whether the number is finite, and the type has none as large.
bool is_beyond(DType dtype, double number) {
  const double largest = dtype == DType::kFloat16    ? 65504.0
                         : dtype == DType::kBFloat16 ? 0x1.FEp127
                                                     : std::numeric_limits<double>::max();
  return std::isfinite(number) && std::abs(number) > largest;
}

// Where(Equal(x, number), another, x)
bool replaces(const Node* where, double number) {
  const Node* equal = where->input(0)->producer;
  return equal != nullptr && equal->is(Op::kEqual) && equal->input(0) == where->input(2) &&
         are_all(equal->input(1), [number](double each) { return each == number; });
}

bool may_hold(const ValueInfo* mask, double number, int& budget) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 20;
  if (--budget < 0) return true;
  if (!base::is_floating(mask->dtype)) return false;
  if (mask->constant != nullptr) {
    if (mask->constant->element_count() > kMaxElements) return true;
    const auto elements = mask->constant->reals();
    return !elements || std::ranges::count(*elements, number) > 0;
  }
  const Node* node = mask->producer;
  if (node == nullptr) return true;
  const auto input_may_hold = [&](const ValueInfo* input) {
    return input == nullptr || may_hold(input, number, budget);
  };
  if (has_trait(node->op, Trait::kRearranges)) return input_may_hold(node->input(0));
  switch (node->op) {
    case Op::kCast:
      return !is_beyond(node->input(0)->dtype, number) && input_may_hold(node->input(0));
    case Op::kWhere:
      return input_may_hold(node->input(1)) ||
             (!replaces(node, number) && input_may_hold(node->input(2)));
    case Op::kMax:
      return std::ranges::none_of(node->inputs,
                                  [&](const ValueInfo* input) {
                                    return are_all(input,
                                                   [number](double each) { return each > number; });
                                  }) &&
             std::ranges::any_of(node->inputs, input_may_hold);
    case Op::kMul:
    case Op::kAdd:
    case Op::kSub:
    case Op::kConcat:
      return std::ranges::any_of(node->inputs, input_may_hold);
    case Op::kPad:
      return number == 0 || node->string_or("mode", "constant") != "constant" ||
             input_may_hold(node->input(0)) ||
             (node->input(2) != nullptr && input_may_hold(node->input(2)));
    case Op::kTrilu:
      return number == 0 || input_may_hold(node->input(0));
    case Op::kConstantOfShape: {
      const Attribute* filling = node->find("value");
      const auto* tensor =
          filling == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&filling->data);
      const auto elements = tensor == nullptr ? std::nullopt : (*tensor)->reals();
      return filling == nullptr ? number == 0
                                : !elements || std::ranges::count(*elements, number) > 0;
    }
    default:
      return true;
  }
}

}  // namespace

bool may_hold(const ValueInfo* mask, double number) {
  int budget = 1000;
  return may_hold(mask, number, budget);
}

namespace {

bool is_zero(const ValueInfo* value) {
  if (value == nullptr) return true;
  const auto reals = value->constant == nullptr ? std::nullopt : value->constant->reals();
  return reals && std::ranges::all_of(*reals, [](double each) { return each == 0; });
}

// A Pad of four axes by zeros that adds `count` at this place of its list, and nothing else; any
// number where `count` is 0.
const Node* padding(const ValueInfo* value, std::size_t place, std::int64_t count) {
  const Node* pad = value == nullptr ? nullptr : value->producer;
  if (pad == nullptr || !pad->is(Op::kPad) || pad->string_or("mode", "constant") != "constant" ||
      !is_zero(pad->input(2)) || pad->input(3) != nullptr || pad->input(1) == nullptr)
    return nullptr;
  if (count == 0) {  // zeros, a number known only at run time, zeros
    const Node* join = pad->input(1)->producer;
    if (join == nullptr || !join->is(Op::kConcat) || join->inputs.size() != 3) return nullptr;
    const ValueInfo *before = join->input(0), *after = join->input(2);
    const auto are_zeros = [](const ValueInfo* zeros, std::size_t wanted) {
      return is_zero(zeros) && zeros->constant != nullptr &&
             zeros->constant->element_count() == static_cast<std::int64_t>(wanted);
    };
    return are_zeros(before, place) && are_zeros(after, 7 - place) ? pad : nullptr;
  }
  const auto pads =
      pad->input(1)->constant == nullptr ? std::nullopt : pad->input(1)->constant->ints();
  if (!pads || pads->size() != 8) return nullptr;
  for (std::size_t i = 0; i < 8; ++i)
    if ((*pads)[i] != (i == place ? count : 0)) return nullptr;
  return pad;
}

// Among four axes' beginnings and ends.
constexpr std::size_t kBeforeColumns = 3, kBehindRows = 6, kBehindColumns = 7;

}  // namespace

ValueInfo* sinks_in(const ValueInfo* mask) {
  if (mask == nullptr) return nullptr;
  const Node* sum = mask->producer;
  if (sum != nullptr && sum->is(Op::kAdd)) {
    if (padding(sum->input(0), kBehindColumns, 1) == nullptr) return nullptr;
    mask = sum->input(1);
  }
  const Node* row = padding(mask, kBeforeColumns, 0);
  return row == nullptr ? nullptr : row->input(0);
}

WithSinks sinks_of(const Node* attention) {
  WithSinks found{};
  const ValueInfo* mask = attention->input(3);
  const Node *key = padding(attention->input(1), kBehindRows, 1),
             *value = padding(attention->input(2), kBehindRows, 1);
  ValueInfo* const sinks = sinks_in(mask);
  if (key == nullptr || value == nullptr || sinks == nullptr) return found;
  found = {key->input(0), value->input(0), nullptr, sinks};
  if (mask->producer->is(Op::kAdd)) found.mask = mask->producer->input(0)->producer->input(0);
  return found;
}

Value causal_mask(Emit& onnx, Expr queries, Expr keys) {
  const Value rows = onnx.unsqueeze(onnx.range(queries), {1}), columns = onnx.range(keys);
  return onnx.less_or_equal(columns, rows);
}

Attended attend(Emit& onnx, const AttentionForm& form) {
  // Scores of bfloat16 have too few digits for their softmax.
  const DType given = form.query.dtype();
  const DType dtype = given == DType::kBFloat16 ? DType::kFloat32 : given;
  const Value query = onnx.cast(form.query, dtype), key = onnx.cast(form.key, dtype),
              value = onnx.cast(form.value, dtype);
  const Expr group = form.grouped ? group_size(query, key) : Expr(1);
  const Value transposed = onnx.swap_axes(key, -1, -2);
  const Value products =
      matmul_by_group(onnx, scaled_query(onnx, query, form.scale), transposed, group);
  Value scores = products;
  if (form.softcap > 0) {
    const Value limit = onnx.scalar(form.softcap, dtype);
    scores = onnx.mul(onnx.tanh(onnx.div(scores, limit)), limit);
  }
  const Value limited = scores;
  Value mask = form.mask;
  if (form.seen_by_place) {
    const Value by_place = additive(onnx, form.seen_by_place, dtype);
    if (!mask) scores = onnx.add(scores, by_place);
    if (mask) mask = onnx.add(additive(onnx, mask, dtype), by_place);
  }
  // Numbers are made of truths once for all layers; of one layer's own, choosing is less to do.
  const bool chooses = mask && mask.dtype() == DType::kBool && mask->uses.size() <= 1;
  if (chooses) scores = onnx.where(mask, scores, onnx.scalar(-kInfinity, dtype));
  if (mask && !chooses) scores = onnx.add(scores, additive(onnx, mask, dtype));
  const DType wide = form.softmax_type == DType::kUndefined ? dtype : form.softmax_type;
  Value weights = onnx.cast(onnx.softmax(onnx.cast(scores, wide), {.axis = -1}), dtype);
  // A row that may attend to nothing is zero; its softmax is NaN.
  if (chooses) weights = onnx.where(mask, weights, onnx.zero(dtype));
  const bool may_hide_rows = mask && !chooses && sinks_in(mask.info()) == nullptr &&
                             (mask.dtype() == DType::kBool || may_hold_minus_infinity(mask.info()));
  const auto without_hidden_rows = [&](Value x) {
    return onnx.where(sees_nothing(onnx, additive(onnx, mask, dtype)), onnx.zero(dtype), x);
  };
  if (may_hide_rows && form.zeroes_weights) weights = without_hidden_rows(weights);
  const Value shown = weights;
  if (form.on_weights) weights = form.on_weights(weights);
  Value result = matmul_by_group(onnx, weights, value, group);
  if (may_hide_rows && !form.zeroes_weights) result = without_hidden_rows(result);
  return {onnx.cast(result, given), scores, products, limited, shown};
}

namespace {

// The output of scores, at one of four steps.
Value shown_scores(const Composite& call, const Attended& attended) {
  const std::array steps = {attended.products, attended.limited, attended.scores, attended.weights};
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode >= static_cast<std::int64_t>(steps.size()))
    base::fail("SX1502", fmt::format("Attention: qk_matmul_output_mode is {}", mode));
  return call.onnx.cast(steps[static_cast<std::size_t>(mode)], call.input(0).dtype());
}

}  // namespace

std::optional<Values> attention(const Composite& call) {
  if (!has_ranks(call)) return std::nullopt;
  Emit& onnx = call.onnx;
  const bool flat = call.input(0).rank() == 3;
  const std::int64_t key_heads = call.integer("kv_num_heads", 0);
  const Value query = split_heads(onnx, call.input(0), call.integer("q_num_heads", 0));
  Value key = split_heads(onnx, call.input(1), key_heads);
  Value value = split_heads(onnx, call.input(2), key_heads);
  const Value past_key = call.input(4), past_value = call.input(5);
  if (past_key) key = onnx.concat({past_key, key}, 2);
  if (past_value) value = onnx.concat({past_value, value}, 2);
  AttentionForm form{.query = query,
                     .key = key,
                     .value = value,
                     .mask = mask_of_all_keys(onnx, call.input(3), key),
                     .seen_by_place = seen_by_place(call, query, key, past_key),
                     .softcap = as_written(call.real("softcap", 0)),
                     .grouped = true,
                     .softmax_type = static_cast<DType>(call.integer("softmax_precision", 0))};
  if (find_attribute(call.attributes, "scale") != nullptr)
    form.scale = as_written(call.real("scale", 1));
  // Rows that a window or a length hides by itself are zero, too.
  if (!form.mask && (call.input(6) || call.integer("left_window_size", -1) >= 0))
    std::swap(form.mask, form.seen_by_place);
  form.zeroes_weights = call.outputs > 3 && call.integer("qk_matmul_output_mode", 0) == 3;
  const Attended attended = attend(onnx, form);
  Values values = {flat ? join_heads(onnx, attended.result) : attended.result};
  if (call.outputs > 1) values.push_back(key);
  if (call.outputs > 2) values.push_back(value);
  if (call.outputs > 3) values.push_back(shown_scores(call, attended));
  return values;
}

}  // namespace sardonyx::onnx

// Before: y = MatMul(Softmax<axis = -1>(Add(Mul(MatMul(q, Transpose(k)), scale), mask)), v)
// After:  y = Attention<scale>(q, k, v, mask)
// Factors may stand at q and k as well, as products or quotients, and the softmax between casts;
// scores that are capped, tanh(scores / cap) * cap, are so with softcap = cap. A mask may also be
// Where(truth, scores, lowest), see masked_scores.h.
// Heads that share keys may lie below one another for the products, as the definition of Attention
// puts them:
//     MatMul(Reshape(q, [b, groups, n * length, size]), Transpose(k))
// or have two axes, of which keys and values have the second one as 1. Without an axis for the
// heads they are one. A row that may attend to nothing is NaN before and zero after: masks that may
// have -infinity are taken only where each row is seen to keep a key, or where the program makes
// zeros of these NaNs itself, or of the rows that they fill.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/definitions/attention.h"
#include "passes/rules/attention/heads.h"
#include "passes/rules/attention/hidden_rows.h"
#include "passes/rules/attention/kept_keys.h"
#include "passes/rules/attention/masked_scores.h"
#include "passes/rules/attention/rules.h"
#include "passes/rules/attention/two_axes_of_heads.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Of more axes than scores have, it would add some.
std::optional<double> number(const ValueInfo* value) {
  const bool fits = value != nullptr && value->constant && value->constant->dims.size() <= 4;
  return fits ? number_of(value) : std::nullopt;
}

// The node that made the value, when it is this operator and nothing else reads it.
Node* only_for(const ValueInfo* value, Op op) {
  return value != nullptr && used_once(value) ? made_by(value, op) : nullptr;
}

// A value and the factor that it is multiplied with.
struct Scaled {
  ValueInfo* value;
  double factor;
};

Scaled without_factors(ValueInfo* value, bool once) {
  Scaled found{value, 1};
  while (found.value != nullptr && (!once || used_once(found.value))) {
    const Node* node = found.value->producer;
    if (node == nullptr || !(node->is(Op::kMul) || node->is(Op::kDiv))) break;
    const auto right = number(node->input(1)), left = number(node->input(0));
    if (right && node->is(Op::kMul)) {
      found = {node->input(0), found.factor * *right};
    } else if (right) {
      found = {node->input(0), found.factor / *right};
    } else if (left && node->is(Op::kMul)) {
      found = {node->input(1), found.factor * *left};
    } else {
      break;
    }
  }
  return found;
}

// The numbers that are added to each row all hide it.
bool hides_a_row(const ValueInfo* mask) {
  if (!onnx::may_hold_minus_infinity(mask) || begins_finite(mask)) return false;
  if (const ValueInfo* truth = truth_of(mask); truth != nullptr && keeps_a_key(truth, true))
    return false;
  if (mask->constant == nullptr || mask->constant->dims.empty()) return true;
  const auto elements = mask->constant->reals();
  const auto size = static_cast<std::size_t>(mask->constant->dims.back());
  if (!elements || size == 0) return true;
  const auto is_seen = [](double element) { return std::isfinite(element); };
  for (std::size_t row = 0; row < elements->size(); row += size) {
    const auto at = elements->begin() + static_cast<std::ptrdiff_t>(row);
    if (std::none_of(at, at + static_cast<std::ptrdiff_t>(size), is_seen)) return true;
  }
  return false;
}

// What a Reshape, which alone reads it, makes other rows of; null where none does.
ValueInfo* before_reshape(const ValueInfo* value) {
  const Node* reshape = only_for(value, Op::kReshape);
  return reshape != nullptr && used_once(reshape->input(0)) ? reshape->input(0) : nullptr;
}

struct Weights {
  ValueInfo* scores;
  ValueInfo* by_heads;  // the weights, of as many heads as there are queries
  DType softmax_type;
  bool zero_for_nan = false;
  std::optional<Hidden> zeros = {};  // which weights are set to zero
};

// Of [Cast](Softmax([Cast](scores))), with zeros where that is NaN, or where keys are hidden, too.
std::optional<Weights> weights_of(ValueInfo* value) {
  Weights found{};
  if (ValueInfo* const apart = before_reshape(value)) value = apart;
  found.by_heads = value;
  if (const auto zeros = used_once(value) ? hidden_by(value) : std::nullopt;
      zeros && zeros->number == 0 && used_once(zeros->rest)) {
    found.zeros = zeros;
    value = zeros->rest;
  } else if (const Node* where = only_for(value, Op::kWhere)) {
    const Node* is_nan = only_for(where->input(0), Op::kIsNaN);
    if (is_nan == nullptr || is_nan->input(0) != where->input(2) ||
        number(where->input(1)) != 0.0 || where->input(2)->uses.size() != 2 ||
        !where->input(2)->returns.empty())
      return std::nullopt;
    found.zero_for_nan = true;
    value = where->input(2);
  } else if (!used_once(value)) {
    return std::nullopt;
  }
  if (const Node* cast = made_by(value, Op::kCast)) {
    value = cast->input(0);
    if (!used_once(value)) return std::nullopt;
  }
  const Node* softmax = made_by(value, Op::kSoftmax);
  if (softmax == nullptr || !value->has_rank) return std::nullopt;
  const std::int64_t axis = softmax->int_or("axis", -1);
  if (axis != -1 && axis != static_cast<std::int64_t>(value->shape.size()) - 1) return std::nullopt;
  found.softmax_type = value->dtype;
  found.scores = softmax->input(0);
  if (const Node* cast = only_for(found.scores, Op::kCast)) found.scores = cast->input(0);
  return found;
}

struct Parts {
  ValueInfo *q, *k_turned, *mask = nullptr;
  const Node* product = nullptr;      // of queries and keys
  double scale, cap = 0;              // 0: scores are not capped
  std::optional<Hidden> hidden = {};  // scores that are a number instead, times `scale_of_hidden`
  double scale_of_hidden = 1;
  bool hides_sums = false;  // of scores with the mask added
};

// Of MatMul(q, k_turned) * scale, capped or not.
std::optional<Parts> product_of(ValueInfo* value) {
  Scaled scaled = without_factors(value, true);
  double cap = 0;
  if (const Node* tanh = only_for(scaled.value, Op::kTanh)) {
    cap = scaled.factor;
    if (!(cap > 0)) return std::nullopt;
    scaled = without_factors(tanh->input(0), true);
    scaled.factor *= cap;
  }
  ValueInfo* const below = before_reshape(scaled.value);
  const Node* product = only_for(below != nullptr ? below : scaled.value, Op::kMatMul);
  if (product == nullptr) return std::nullopt;
  ValueInfo* rows = product->input(0);
  if (below != nullptr && (rows = before_reshape(rows)) == nullptr) return std::nullopt;
  const Scaled q = without_factors(rows, true);
  const Scaled k = without_factors(product->input(1), true);
  return Parts{q.value, k.value, nullptr, product, scaled.factor * q.factor * k.factor, cap};
}

// The sides of an Add that nothing else reads; null where it is none.
const Node* sum_of(const ValueInfo* value) { return only_for(value, Op::kAdd); }

// Of the same with a mask added to it.
template <std::optional<Parts> (*product)(ValueInfo*)>
std::optional<Parts> masked(ValueInfo* scores) {
  if (const auto found = product(scores)) return found;
  const Node* sum = sum_of(scores);
  if (sum == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    auto found = product(sum->input(side));
    if (!found || found->mask != nullptr) continue;
    found->mask = sum->input(1 - side);
    return found;
  }
  return std::nullopt;
}

// Of the same with a number in the place of hidden scores.
std::optional<Parts> hidden_product_of(ValueInfo* value) {
  if (auto found = product_of(value)) return found;
  const Scaled scaled = without_factors(value, true);
  const auto hidden = used_once(scaled.value) ? hidden_by(scaled.value) : std::nullopt;
  if (!hidden || !(scaled.factor > 0)) return std::nullopt;
  auto found = masked<product_of>(hidden->rest);
  const bool is_scaled = scaled.factor != 1;
  if (!found || (is_scaled && (found->cap != 0 || found->mask != nullptr))) return std::nullopt;
  found->hides_sums = found->mask != nullptr;
  found->scale *= scaled.factor;
  found->hidden = hidden;
  found->scale_of_hidden = scaled.factor;
  return found;
}

// The keys whose last two axes this has the other way round; null where no Transpose made it.
ValueInfo* turned_back(const ValueInfo* turned, Patch& patch) {
  const Node* transpose = made_by(turned, Op::kTranspose);
  const std::vector<std::int64_t>* order = transpose == nullptr ? nullptr : transpose->ints("perm");
  if (order == nullptr || order->size() < 3) return nullptr;
  std::vector<std::int64_t> back = *order;
  std::swap(back[back.size() - 1], back[back.size() - 2]);
  if (std::ranges::is_sorted(back)) return transpose->input(0);
  return patch.node(Op::kTranspose, {transpose->input(0)}, {{"perm", back, {}}}, turned->name);
}

// All heads may share those of one head.
bool fit(const ValueInfo* q, const ValueInfo* k, const ValueInfo* v, std::size_t rank) {
  if (!is_known(q, rank) || !is_known(k, rank) || !is_known(v, rank)) return false;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    const bool shared = axis == 1 && k->shape[axis].is(1) && v->shape[axis].is(1);
    const bool alike = q->shape[axis] == k->shape[axis] && q->shape[axis] == v->shape[axis];
    if (!alike && !shared) return false;
  }
  return q->shape[rank - 1] == k->shape[rank - 1] && k->shape[rank - 2] == v->shape[rank - 2];
}

// [batch, heads, length, ...] as [batch, groups, heads / groups * length, ...]
bool lie_below(const ValueInfo* heads, const ValueInfo* rows) {
  if (!is_known(heads, 4) || !is_known(rows, 4)) return false;
  const onnx::Shape &apart = heads->shape, &below = rows->shape;
  if (!apart[1].is_constant() || !below[1].is_constant() || below[1].value() <= 0 ||
      apart[1].value() % below[1].value() != 0)
    return false;
  return apart[0] == below[0] && apart[3] == below[3] &&
         below[2] == apart[2] * symbolic::Expr(apart[1].value() / below[1].value());
}

// What gives the result by its heads where heads that share keys lie below one another in both
// products; null where they do not.
ValueInfo* apart_again(const Node* product, const Weights& weights, const Parts& parts) {
  const ValueInfo *scores = parts.product->output(), *rows = product->output();
  if (!used_once(rows) || !rows->uses.front().node->is(Op::kReshape)) return nullptr;
  ValueInfo* const apart = rows->uses.front().node->output();
  const onnx::Shape& q = parts.q->shape;
  const bool alike = lie_below(parts.q, parts.product->input(0)) &&
                     lie_below(weights.by_heads, scores) &&
                     lie_below(weights.by_heads, product->input(0)) && lie_below(apart, rows) &&
                     apart->shape[1] == q[1] && apart->shape[2] == q[2] &&
                     weights.by_heads->shape[1] == q[1] && weights.by_heads->shape[2] == q[2];
  return alike ? apart : nullptr;
}

// Keys and values of the same batches and of as many heads, each of which serves some of q's.
bool fit_in_groups(const ValueInfo* q, const ValueInfo* k, const ValueInfo* v) {
  return is_known(q, 4) && is_known(k, 4) && is_known(v, 4) && q->shape[0] == k->shape[0] &&
         q->shape[0] == v->shape[0] && k->shape[1] == v->shape[1] && k->shape[2] == v->shape[2] &&
         q->shape[3] == k->shape[3];
}

// With the axes that the operator counts from the left; null where it cannot be said.
ValueInfo* as_mask(ValueInfo* mask, std::size_t rank, Patch& patch) {
  if (!mask->has_rank || mask->shape.size() < 2 || mask->shape.size() > rank) return nullptr;
  if (mask->shape.size() != 3) return mask;
  const std::int64_t missing = rank == 3 ? 1 : 0;
  return patch.node(Op::kUnsqueeze, {mask, patch.ints({missing})}, {}, mask->name + "_Unsqueeze");
}

// What a mask may have where scores are hidden. Weights that are set to zero there are so in rows
// without any key, too, as minus infinity makes them.
std::optional<double> number_for_hidden(const Parts& parts, const Weights& weights, DType dtype) {
  if (!parts.hidden) return std::nullopt;
  const double number = parts.hidden->number * parts.scale_of_hidden;
  const bool is_added_to = parts.mask != nullptr && !parts.hides_sums;
  // Where each row keeps a key, the lowest number hides as minus infinity does.
  if (std::isinf(number) && number < 0 && !weights.zeros && !is_added_to &&
      (dtype == DType::kFloat32 || dtype == DType::kFloat64) &&
      (begins_with(parts.hidden->truth, !parts.hidden->where_true) ||
       keeps_a_key(parts.hidden->truth, !parts.hidden->where_true)))
    return as_summand(-double{std::numeric_limits<float>::max()}, dtype, false);
  if (!weights.zeros) return as_summand(number, dtype, is_added_to);
  const bool alike = !is_added_to && hide_alike(*parts.hidden, *weights.zeros);
  return alike && as_summand(number, dtype, false) ? std::optional(kMinusInfinity) : std::nullopt;
}

bool raise(Node* product, RuleContext& context) {
  const auto weights = weights_of(product->input(0));
  const auto parts = weights ? masked<hidden_product_of>(weights->scores) : std::nullopt;
  ValueInfo* const v = product->input(1);
  if (!parts || !product->output()->has_rank) return false;
  const bool grouped = weights->by_heads != product->input(0);
  ValueInfo* const attended = grouped ? apart_again(product, *weights, *parts) : product->output();
  if (attended == nullptr || grouped == (parts->product->input(0)->shape == parts->q->shape))
    return context.decline(product, "its heads are not put below one another alike");
  const std::size_t rank = product->output()->shape.size();
  if (rank < 3 || rank > 5 || (rank == 5 && grouped))
    return context.decline(product, "it has more axes than heads");
  const DType dtype = product->output()->dtype;
  const auto scale = static_cast<float>(parts->scale);
  const auto cap = static_cast<float>(parts->cap);
  if (dtype == DType::kFloat64 && (double{scale} != parts->scale || double{cap} != parts->cap))
    return context.decline(product, "float32, the type of the attribute, does not hold the scale");
  const std::optional<double> number = number_for_hidden(*parts, *weights, dtype);
  if ((parts->hidden || weights->zeros) && !number)
    return context.decline(product, "its hidden scores are not so low that a mask says the same");

  Patch patch(context, product);
  ValueInfo* const added =
      number ? mask_of(*parts->hidden, *number, dtype, parts->mask, patch, product) : parts->mask;
  const Node* zeros = added == nullptr ? nullptr : zeros_for_hidden_rows(attended, added);
  if (added != nullptr && !weights->zero_for_nan && !weights->zeros && zeros == nullptr &&
      hides_a_row(added))
    return context.decline(product, "a row of its mask may hide all keys, which gives NaN");
  ValueInfo* const k = turned_back(parts->k_turned, patch);
  if (k == nullptr || parts->q->dtype != dtype ||
      !(grouped     ? fit_in_groups(parts->q, k, v)
        : rank == 5 ? fit_by_two_axes(parts->q, k, v)
                    : fit(parts->q, k, v, rank)))
    return context.decline(product, "its keys are not those of its values, head by head");
  ValueInfo* mask =
      added != nullptr && rank == 5 ? mask_with_one_axis_of_heads(added, patch) : added;
  if (mask != nullptr) mask = as_mask(mask, std::min<std::size_t>(rank, 4), patch);
  if (added != nullptr && mask == nullptr && !patch.failed())
    return context.decline(product, "its mask has other axes than its scores");

  std::vector<ValueInfo*> inputs = {parts->q, k, v};
  if (rank == 5) {
    for (ValueInfo*& input : inputs)
      if ((input = with_one_axis_of_heads(input, patch)) == nullptr)
        return context.decline(product, "a size would have to be computed");
  }
  if (mask != nullptr) inputs.push_back(mask);
  std::vector<onnx::Attribute> attributes = {{"scale", scale, {}}};
  if (cap != 0) attributes.push_back({"softcap", cap, {}});
  if (weights->softmax_type != dtype)
    attributes.push_back(
        {"softmax_precision", static_cast<std::int64_t>(weights->softmax_type), {}});
  if (rank == 3) {
    attributes.push_back({"q_num_heads", std::int64_t{1}, {}});
    attributes.push_back({"kv_num_heads", std::int64_t{1}, {}});
  }
  ValueInfo* const y = zeros == nullptr ? attended : zeros->output();
  ValueInfo* const result = patch.node(Op::kAttention, inputs, attributes, y->name);
  if (rank < 5) {
    patch.replace(y, result);
  } else if (!replace_by_one_axis_of_heads(y, result, patch)) {
    return context.decline(product, "a size would have to be computed");
  }
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMatMul};

}  // namespace

const Rule kRaiseAttention = {"raise-attention", kRoots, raise, 23};

}  // namespace sardonyx::passes

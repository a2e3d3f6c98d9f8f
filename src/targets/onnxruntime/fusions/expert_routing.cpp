#include "targets/onnxruntime/fusions/expert_routing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "onnx/gen/op.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::made_by;
using rewriting::number_of;

bool is_along(const Node* node, std::int64_t axis, std::int64_t otherwise) {
  const std::int64_t own = node->int_or("axis", otherwise);
  return own == axis || own == axis - 2;  // of two axes
}

const ValueInfo* input_of(const ValueInfo* value, Op op, std::size_t input = 0) {
  const Node* node = value == nullptr ? nullptr : made_by(value, op);
  return node == nullptr ? nullptr : node->input(input);
}

bool is_row(const ValueInfo* value) { return value->has_rank && value->shape.size() == 1; }

// Whether all elements are the number, however many there are.
bool repeats(const ValueInfo* value, double number) {
  if (const ValueInfo* repeated = input_of(value, Op::kExpand))
    return number_of(repeated) == number;
  const auto numbers =
      value == nullptr || value->constant == nullptr ? std::nullopt : value->constant->reals();
  return numbers && std::ranges::all_of(*numbers, [&](double each) { return each == number; });
}

// Whether it is 0, 1, 2, …
bool counts_up(const ValueInfo* value) {
  if (const Node* range = made_by(value, Op::kRange))
    return number_of(range->input(0)) == 0.0 && number_of(range->input(2)) == 1.0;
  const auto numbers =
      value == nullptr || value->constant == nullptr ? std::nullopt : value->constant->ints();
  if (!numbers) return false;
  for (std::size_t i = 0; i < numbers->size(); ++i)
    if (std::cmp_not_equal((*numbers)[i], i)) return false;
  return true;
}

// Whether a TopK sorts all elements of its one axis.
bool sorts_all(const Node* sort) {
  if (input_of(sort->input(1), Op::kShape) != nullptr) return true;
  const ValueInfo* x = sort->input(0);
  const auto count = number_of(sort->input(1));
  return count && is_row(x) && x->shape[0].is(static_cast<std::int64_t>(*count));
}

// What experts are the greatest of: as it is, or with NaN as the greatest.
ValueInfo* scores_of(const Node* top) {
  ValueInfo* value = top->input(0);
  if (const Node* choice = made_by(value, Op::kWhere)) {
    const Node* limited = made_by(choice->input(2), Op::kMin);
    if (limited == nullptr || made_by(choice->input(0), Op::kIsNaN) == nullptr) return nullptr;
    value = limited->input(0);
  }
  if (const Node* cast = made_by(value, Op::kCast)) value = cast->input(0);
  return without_casts(value);
}

// The sort of the chosen experts, of all tokens one after the other.
std::optional<SortedRows> sorted_by(const ValueInfo* order, const Node*& top) {
  const Node* sort = order->producer;
  if (sort == nullptr || !sort->is(Op::kTopK) || sort->outputs.size() != 2 ||
      sort->output(1) != order || sort->int_or("largest", 1) != 0)
    return std::nullopt;
  const Node* flat = made_by(sort->input(0), Op::kReshape);
  if (flat == nullptr || !is_row(flat->output())) return std::nullopt;
  const ValueInfo* chosen = flat->input(0);
  top = chosen->producer;
  if (top == nullptr || !top->is(Op::kTopK) || top->outputs.size() != 2 ||
      top->output(1) != chosen || top->int_or("largest", 1) != 1 || !is_along(top, 1, -1) ||
      !chosen->has_rank || chosen->shape.size() != 2)
    return std::nullopt;
  const auto each = number_of(top->input(1));
  if (!each || !sorts_all(sort)) return std::nullopt;
  return SortedRows{order, sort->output(0), static_cast<std::int64_t>(*each)};
}

// Before: zeros with 0, 1, 2, … at the places of `order`; that, or null.
const ValueInfo* inverted(const ValueInfo* value) {
  const Node* scatter = made_by(value, Op::kScatterND);
  if (scatter == nullptr || scatter->string_or("reduction", "none") != "none") return nullptr;
  if (!counts_up(scatter->input(2))) return nullptr;
  return input_of(scatter->input(1), Op::kUnsqueeze);
}

// The scores of the chosen experts: GatherElements of all.
ValueInfo* all_scores(ValueInfo* value, const Node* top) {
  const Node* gather = made_by(without_casts(value), Op::kGatherElements);
  if (gather == nullptr || !is_along(gather, 1, 0) || gather->input(1) != top->output(1))
    return nullptr;
  return without_casts(gather->input(0));
}

// What is divided by its sum; null where something else is.
ValueInfo* normalized(ValueInfo* value) {
  const Node* quotient = made_by(without_casts(value), Op::kDiv);
  if (quotient == nullptr) return nullptr;
  const Node* sum = made_by(without_casts(quotient->input(1)), Op::kReduceSum);
  if (sum == nullptr || sum->int_or("keepdims", 1) != 1 ||
      !(holds(sum->input(1), {1}) || holds(sum->input(1), {-1})) ||
      without_casts(sum->input(0)) != without_casts(quotient->input(0)))
    return nullptr;
  return quotient->input(0);
}

// The Softmax is taken of the chosen scores, or of all before they are chosen.
bool set_routing(ValueInfo* weights, const Node* top, RoutedRows& found) {
  ValueInfo* const scores = scores_of(top);
  if (scores == nullptr) return false;
  const Node* softmax = made_by(without_casts(weights), Op::kSoftmax);
  if (softmax != nullptr) {
    found.logits = all_scores(softmax->input(0), top);
    found.normalizes = true;
    return is_along(softmax, 1, -1) && found.logits == scores;
  }
  ValueInfo* const divided = normalized(weights);
  found.normalizes = divided != nullptr;
  ValueInfo* const all = all_scores(divided != nullptr ? divided : weights, top);
  softmax = all == nullptr ? nullptr : made_by(all, Op::kSoftmax);
  if (softmax == nullptr || all != scores || !is_along(softmax, 1, -1)) return false;
  found.logits = without_casts(softmax->input(0));
  return true;
}

// What is multiplied by bins / (bins - 1), in one step or two; null where something else is made.
const ValueInfo* before_scale(const ValueInfo* value, double bins) {
  double step = 1;
  if (const Node* quotient = made_by(value, Op::kDiv)) {
    step /= number_of(quotient->input(1)).value_or(0);
    value = quotient->input(0);
  }
  const Node* product = made_by(value, Op::kMul);
  const auto factor = product == nullptr ? std::nullopt : number_of(product->input(1));
  if (!factor || !(std::abs(step * *factor * (bins - 1) - bins) < 1e-3)) return nullptr;
  return product->input(0);
}

// Whether it is the number of each expert, as torch.histc() finds the bin of a whole number.
bool is_bin(const ValueInfo* bins, const SortedRows& sorted, std::int64_t experts) {
  const auto count = static_cast<double>(experts);
  const Node* choice = made_by(bins, Op::kWhere);
  if (choice == nullptr || number_of(choice->input(2)) != count) return false;
  const Node* inside = made_by(choice->input(0), Op::kAnd);
  const Node* least = made_by(input_of(choice->input(1), Op::kCast), Op::kMin);
  const Node* scaled = least == nullptr ? nullptr : made_by(least->input(0), Op::kWhere);
  if (inside == nullptr || scaled == nullptr || number_of(least->input(1)) != count - 1 ||
      scaled->input(0) != choice->input(0) || number_of(scaled->input(2)) != 0.0)
    return false;
  const ValueInfo* number = before_scale(scaled->input(1), count);
  const Node* from = made_by(inside->input(0), Op::kGreaterOrEqual);
  const Node* to = made_by(inside->input(1), Op::kLessOrEqual);
  return number != nullptr && input_of(number, Op::kCast) == sorted.experts && from != nullptr &&
         to != nullptr && from->input(0) == number && to->input(0) == number &&
         number_of(from->input(1)) == 0.0 && number_of(to->input(1)) == count - 1;
}

// Whether it is the elements of `whole` in front of its last one, or that one.
bool is_part(const ValueInfo* value, const ValueInfo* whole, std::int64_t count, bool is_last) {
  if (const Node* split = made_by(value, Op::kSplit))
    return split->input(0) == whole && split->outputs.size() == 2 &&
           split->output(is_last ? 1 : 0) == value && holds(split->input(1), {count - 1, 1});
  const Node* slice = made_by(value, Op::kSlice);
  return slice != nullptr && slice->input(0) == whole &&
         holds(slice->input(1), {is_last ? count - 1 : 0}) &&
         holds(slice->input(2), {is_last ? count : count - 1}) && slice->input(4) == nullptr;
}

// Whether it counts how often each expert occurs.
bool counts_experts(const ValueInfo* counted, const SortedRows& sorted, std::int64_t experts) {
  const Node* slice = made_by(counted, Op::kSlice);
  if (slice == nullptr || !holds(slice->input(1), {0}) || !holds(slice->input(2), {experts}))
    return false;
  const Node* scatter = made_by(slice->input(0), Op::kScatterElements);
  if (scatter == nullptr || scatter->string_or("reduction", "none") != "add") return false;
  return repeats(scatter->input(0), 0) && repeats(scatter->input(2), 1) &&
         is_bin(scatter->input(1), sorted, experts);
}

}  // namespace

ValueInfo* without_casts(ValueInfo* value) {
  while (value != nullptr) {
    const Node* cast = made_by(value, Op::kCast);
    if (cast == nullptr || !base::is_floating(cast->input(0)->dtype) ||
        !base::is_floating(value->dtype))
      break;
    value = cast->input(0);
  }
  return value;
}

bool holds(const ValueInfo* value, std::initializer_list<std::int64_t> numbers) {
  if (value == nullptr || value->constant == nullptr) return false;
  const auto found = value->constant->ints();
  return found && std::ranges::equal(*found, numbers);
}

std::optional<RoutedRows> routed_rows(ValueInfo* value) {
  const Node* back = made_by(value, Op::kGather);
  const ValueInfo* order = back == nullptr ? nullptr : inverted(back->input(1));
  const Node* top = nullptr;
  const auto sorted = order == nullptr ? std::nullopt : sorted_by(order, top);
  if (!sorted || back->int_or("axis", 0) != 0) return std::nullopt;
  const Node* product = made_by(without_casts(back->input(0)), Op::kMul);
  if (product == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* column = made_by(without_casts(product->input(side)), Op::kUnsqueeze);
    const Node* picked =
        column == nullptr ? nullptr : made_by(without_casts(column->input(0)), Op::kGather);
    if (picked == nullptr || picked->input(1) != order || !holds(column->input(1), {1})) continue;
    const Node* flat = made_by(without_casts(picked->input(0)), Op::kReshape);
    if (flat == nullptr || !is_row(flat->output())) continue;
    RoutedRows found{.sorted = *sorted, .rows = product->input(1 - side)};
    if (set_routing(flat->input(0), top, found)) return found;
  }
  return std::nullopt;
}

bool counts_rows(const ValueInfo* counts, const SortedRows& sorted, std::int64_t experts) {
  const Node* all = made_by(counts, Op::kConcat);
  if (all == nullptr || all->inputs.size() != 2 || experts < 2) return false;
  const Node* own = made_by(all->input(0), Op::kSub);
  const Node* rest = made_by(all->input(1), Op::kSub);
  const Node* starts = own == nullptr ? nullptr : made_by(own->input(1), Op::kConcat);
  if (rest == nullptr || starts == nullptr || starts->inputs.size() != 2 ||
      !holds(starts->input(0), {0}))
    return false;
  const ValueInfo* ends = own->input(0);
  if (!is_part(starts->input(1), ends, experts, false) ||
      !is_part(rest->input(1), ends, experts, true))
    return false;
  const ValueInfo* sums = ends;
  while (const ValueInfo* before = input_of(sums, Op::kCast)) sums = before;
  const Node* running = made_by(sums, Op::kCumSum);
  if (running == nullptr || running->int_or("exclusive", 0) != 0 ||
      running->int_or("reverse", 0) != 0)
    return false;
  const ValueInfo* counted = running->input(0);
  while (const ValueInfo* before = input_of(counted, Op::kCast)) counted = before;
  return counts_experts(counted, sorted, experts);
}

ValueInfo* unsorted_rows(ValueInfo* rows, const SortedRows& sorted) {
  const Node* gather = made_by(without_casts(rows), Op::kGather);
  const Node* place = gather == nullptr ? nullptr : made_by(gather->input(1), Op::kDiv);
  if (place == nullptr || gather->int_or("axis", 0) != 0 || place->input(0) != sorted.order ||
      number_of(place->input(1)) != static_cast<double>(sorted.each))
    return nullptr;
  ValueInfo* const x = gather->input(0);
  return x->has_rank && x->shape.size() == 2 ? x : nullptr;
}

}  // namespace sardonyx::targets

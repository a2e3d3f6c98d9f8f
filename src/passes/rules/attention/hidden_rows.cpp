#include "passes/rules/attention/hidden_rows.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <variant>

#include "onnx/gen/op.h"
#include "onnx/graph/tensor.h"
#include "passes/constant_ints.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::made_by;
using rewriting::number_of;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// ReduceMax over the last axis, which stays.
bool is_most_of(const Node* node, const ValueInfo* of) {
  if (node == nullptr || node->input(0) != of || !of->has_rank || node->int_or("keepdims", 1) != 1)
    return false;
  const auto axes = constant_ints(node->input(1));
  const auto last = static_cast<std::int64_t>(of->shape.size()) - 1;
  return axes && axes->size() == 1 && (axes->front() == -1 || axes->front() == last);
}

// Equal(ReduceMax(mask), -infinity)
bool finds_only_minus_infinity(const ValueInfo* rows, const ValueInfo* mask) {
  const Node* equal = made_by(rows, Op::kEqual);
  if (equal == nullptr) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    if (number_of(equal->input(1 - side)) == kMinusInfinity &&
        is_most_of(made_by(equal->input(side), Op::kReduceMax), mask))
      return true;
  return false;
}

// Not(Cast(ReduceMax(Cast(truth))))
bool finds_no_truth(const ValueInfo* rows, const ValueInfo* truth) {
  const Node* none = made_by(rows, Op::kNot);
  const Node* some = none == nullptr ? nullptr : made_by(none->input(0), Op::kCast);
  const Node* most = some == nullptr ? nullptr : made_by(some->input(0), Op::kReduceMax);
  const Node* numbers = most == nullptr ? nullptr : made_by(most->input(0), Op::kCast);
  return numbers != nullptr && numbers->input(0) == truth &&
         base::is_integer(numbers->output()->dtype) && is_most_of(most, numbers->output());
}

// A Slice that leaves the last axis whole, or cuts off its end alone.
bool keeps_the_first(const Node* slice) {
  const ValueInfo *x = slice->input(0), *starts = slice->input(1), *axes = slice->input(3),
                  *steps = slice->input(4);
  const auto from = constant_ints(starts), along = constant_ints(axes);
  if (!x->has_rank || !from || !along || from->size() != along->size()) return false;
  const auto by = constant_ints(steps);
  if (steps != nullptr && !by) return false;
  const auto last = static_cast<std::int64_t>(x->shape.size()) - 1;
  for (std::size_t i = 0; i < along->size(); ++i)
    if (((*along)[i] == -1 || (*along)[i] == last) && ((*from)[i] != 0 || (by && (*by)[i] < 0)))
      return false;
  return true;
}

bool constant_begins_with(const onnx::Tensor& truth, bool wanted) {
  if (truth.dims.empty() || truth.dims.back() == 0) return false;
  const auto numbers = truth.reals();
  const auto ints = numbers ? std::nullopt : truth.ints();
  if (!numbers && !ints) return false;
  const auto size = static_cast<std::size_t>(truth.dims.back());
  const std::size_t count = numbers ? numbers->size() : ints->size();
  for (std::size_t row = 0; row < count; row += size)
    if ((numbers ? (*numbers)[row] != 0 : (*ints)[row] != 0) != wanted) return false;
  return true;
}

}  // namespace

namespace {

// What a Trilu leaves of the first of each row: what was there, or zero; absent where it is now the
// one, now the other.
std::optional<bool> keeps_first_column(const Node* trilu) {
  const auto diagonal =
      trilu->input(1) == nullptr ? std::optional<std::int64_t>(0) : known_int(trilu->input(1));
  if (!diagonal) return std::nullopt;
  const bool upper = trilu->int_or("upper", 1) != 0;
  if (upper ? *diagonal >= 1 : *diagonal < 0) return upper ? std::optional(false) : std::nullopt;
  return upper ? std::nullopt : std::optional(true);
}

bool is_filled_with(const Node* constant_of_shape, bool wanted) {
  const onnx::Attribute* filling = constant_of_shape->find("value");
  if (filling == nullptr) return !wanted;
  const auto* tensor = std::get_if<std::shared_ptr<const onnx::Tensor>>(&filling->data);
  if (tensor == nullptr) return false;
  const auto reals = (*tensor)->reals();
  const auto ints = reals ? std::nullopt : (*tensor)->ints();
  if (reals) return reals->size() == 1 && (reals->front() != 0) == wanted;
  return ints && ints->size() == 1 && (ints->front() != 0) == wanted;
}

}  // namespace

bool begins_with(const ValueInfo* truth, bool wanted) {
  if (truth == nullptr || truth->is_disputed) return false;
  if (truth->constant != nullptr) return constant_begins_with(*truth->constant, wanted);
  const Node* node = truth->producer;
  if (node == nullptr || !node->domain.empty()) return false;
  switch (node->op) {
    case Op::kNot:
      return begins_with(node->input(0), !wanted);
    case Op::kEqual:
      return number_of(node->input(1)) == 0.0 && begins_with(node->input(0), !wanted);
    case Op::kCast:
      // Numbers between 0 and 1 become integers of 0.
      return begins_with(node->input(0), wanted) && (node->input(0)->dtype == base::DType::kBool ||
                                                     node->output()->dtype == base::DType::kBool);
    case Op::kSlice:
      return keeps_the_first(node) && begins_with(node->input(0), wanted);
    case Op::kExpand: {
      const auto number = number_of(node->input(0));
      return number ? (*number != 0) == wanted : begins_with(node->input(0), wanted);
    }
    case Op::kConstantOfShape:
      return is_filled_with(node, wanted);
    case Op::kTrilu: {
      const auto keeps = keeps_first_column(node);
      return keeps && (*keeps ? begins_with(node->input(0), wanted) : !wanted);
    }
    case Op::kUnsqueeze: {
      const auto list = constant_ints(node->input(1));
      const auto last = static_cast<std::int64_t>(truth->shape.size()) - 1;
      return list && truth->has_rank && begins_with(node->input(0), wanted) &&
             std::ranges::none_of(*list,
                                  [&](std::int64_t axis) { return axis == -1 || axis == last; });
    }
    default:
      return false;
  }
}

bool begins_finite(const ValueInfo* mask) {
  if (mask == nullptr || mask->is_disputed || !mask->has_rank) return false;
  const Node* node = mask->producer;
  if (node == nullptr || !node->domain.empty()) return false;
  switch (node->op) {
    case Op::kTrilu:
      return keeps_first_column(node) == false;
    case Op::kUnsqueeze: {
      const auto list = constant_ints(node->input(1));
      const auto last = static_cast<std::int64_t>(mask->shape.size()) - 1;
      return list && begins_finite(node->input(0)) &&
             std::ranges::none_of(*list,
                                  [&](std::int64_t axis) { return axis == -1 || axis == last; });
    }
    case Op::kSlice:
      return keeps_the_first(node) && begins_finite(node->input(0));
    default:
      return false;
  }
}

ValueInfo* truth_of(const ValueInfo* mask) {
  const Node* where = made_by(mask, Op::kWhere);
  if (where == nullptr || number_of(where->input(1)) != 0.0 ||
      number_of(where->input(2)) != kMinusInfinity)
    return nullptr;
  ValueInfo* const truth = where->input(0);
  return truth->has_rank && mask->has_rank && truth->shape == mask->shape ? truth : nullptr;
}

Node* zeros_for_hidden_rows(const ValueInfo* attended, const ValueInfo* mask) {
  if (!rewriting::used_once(attended) || attended->uses.front().index != 2) return nullptr;
  Node* const where = attended->uses.front().node;
  if (!where->is(Op::kWhere) || number_of(where->input(1)) != 0.0) return nullptr;
  const ValueInfo *rows = where->input(0), *truth = truth_of(mask);
  const bool same =
      finds_only_minus_infinity(rows, mask) || (truth != nullptr && finds_no_truth(rows, truth));
  return same ? where : nullptr;
}

}  // namespace sardonyx::passes

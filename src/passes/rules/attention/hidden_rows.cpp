#include "passes/rules/attention/hidden_rows.h"

#include <limits>
#include <optional>

#include "onnx/gen/op.h"
#include "onnx/graph/tensor.h"
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
  const ValueInfo* axes_input = node->input(1);
  const auto axes = axes_input != nullptr && axes_input->constant != nullptr
                        ? axes_input->constant->ints()
                        : std::nullopt;
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

}  // namespace

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

// Before: y = Softmax<axis = i>(Sub(x, ReduceMax<axes = [i]>(x)))
// After:  y = Softmax<axis = i>(x)
// The operator subtracts it by itself. The maximum may also be gathered by its place, as where a
// program takes both from one call, and the place be found with NaN counting as the most. Or it is
// Where(IsNaN(s), s, ReduceMax(x)) with s = ReduceSum(Mul(x, x)), as amax() is translated.
#include <cstdint>
#include <limits>
#include <optional>

#include "passes/constant_ints.h"
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

std::int64_t counted(std::int64_t axis, const ValueInfo* x) {
  return axis < 0 ? axis + static_cast<std::int64_t>(x->shape.size()) : axis;
}

const ValueInfo* without_cast(const ValueInfo* value) {
  const Node* cast = made_by(value, Op::kCast);
  return cast != nullptr && value->dtype == onnx::DType::kFloat64 ? cast->input(0) : value;
}

// Where(IsNaN(x), infinity, Min(x, the greatest number)), of x perhaps in float64.
bool is_x_with_nan_as_most(const ValueInfo* value, const ValueInfo* x) {
  const Node* where = made_by(value, Op::kWhere);
  if (where == nullptr) return false;
  const Node *test = made_by(where->input(0), Op::kIsNaN),
             *least = made_by(where->input(2), Op::kMin);
  if (test == nullptr || least == nullptr || least->inputs.size() != 2 ||
      number_of(where->input(1)) != std::numeric_limits<double>::infinity())
    return false;
  const auto most = number_of(least->input(1));
  return most && *most >= std::numeric_limits<float>::max() && without_cast(test->input(0)) == x &&
         without_cast(least->input(0)) == x;
}

bool is_reduced(Op op, const ValueInfo* value, const ValueInfo* x, std::int64_t axis) {
  const Node* reduce = made_by(value, op);
  if (reduce == nullptr || reduce->input(0) != x) return false;
  const auto over = known_int(reduce->input(1));
  return reduce->int_or("keepdims", 1) != 0 && over && counted(*over, x) == axis;
}

// ReduceSum(Mul(x, x)): NaN at most where the softmax is NaN anyway.
bool is_sum_of_squares(const ValueInfo* value, const ValueInfo* x, std::int64_t axis) {
  const Node* sum = made_by(value, Op::kReduceSum);
  const Node* square = sum != nullptr ? made_by(sum->input(0), Op::kMul) : nullptr;
  return square != nullptr && square->input(0) == x && square->input(1) == x &&
         is_reduced(Op::kReduceSum, value, sum->input(0), axis);
}

bool is_maximum(const ValueInfo* value, const ValueInfo* x, std::int64_t axis) {
  if (const Node* where = made_by(value, Op::kWhere)) {
    const Node* test = made_by(where->input(0), Op::kIsNaN);
    return test != nullptr && test->input(0) == where->input(1) &&
           is_sum_of_squares(where->input(1), x, axis) &&
           is_reduced(Op::kReduceMax, where->input(2), x, axis);
  }
  if (is_reduced(Op::kReduceMax, value, x, axis)) return true;
  const Node* gather = made_by(value, Op::kGatherElements);
  if (gather == nullptr || gather->input(0) != x || counted(gather->int_or("axis", 0), x) != axis)
    return false;
  const Node* place = made_by(gather->input(1), Op::kArgMax);
  return place != nullptr && place->int_or("keepdims", 1) != 0 &&
         counted(place->int_or("axis", 0), x) == axis &&
         (place->input(0) == x || is_x_with_nan_as_most(place->input(0), x));
}

bool drop(Node* softmax, RuleContext& context) {
  const Node* difference = made_by(softmax->input(0), Op::kSub);
  if (difference == nullptr) return false;
  ValueInfo* const x = difference->input(0);
  if (!x->has_rank || !base::is_floating(x->dtype) ||
      !is_maximum(difference->input(1), x, counted(softmax->int_or("axis", -1), x)))
    return false;
  Patch patch(context, softmax);
  patch.set_input(softmax, 0, x);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kSoftmax, Op::kLogSoftmax};

}  // namespace

const Rule kSoftmaxWithoutMaximum = {"softmax-without-maximum", kRoots, drop, 13};

}  // namespace sardonyx::passes

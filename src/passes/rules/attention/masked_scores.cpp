#include "passes/rules/attention/masked_scores.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/graph/tensor.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::Patch;

// Models that hide by a number write -1e4 at the least: exp() of what is so much lower than another
// score is zero.
constexpr double kFarBelow = -1e4;
// Of these numbers a float32 has no digits left for a score.
constexpr double kWithoutDigits = -1e30;
constexpr double kLowest = -double{std::numeric_limits<float>::max()};

bool is(const ValueInfo* value, double number) {
  return value != nullptr && value->constant != nullptr && value->constant->dims.empty() &&
         rewriting::number_of(value) == number;
}

ValueInfo* constant(Patch& patch, DType dtype, double number) {
  return patch.constant(onnx::Tensor::filled(dtype, {}, number));
}

}  // namespace

std::optional<Hidden> hidden_by(const ValueInfo* value) {
  const Node* where = rewriting::made_by(value, Op::kWhere);
  if (where == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{1}, std::size_t{2}}) {
    const auto number = rewriting::number_of(where->input(side));
    ValueInfo* const rest = where->input(3 - side);
    if (number && rest->constant == nullptr && rest->has_rank && value->has_rank &&
        rest->shape == value->shape)
      return Hidden{where->input(0), side == 1, *number, rest};
  }
  return std::nullopt;
}

std::optional<double> as_summand(double number, DType dtype, bool is_added_to) {
  if (std::isinf(number) && number < 0) return number;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) return std::nullopt;
  if (number <= kWithoutDigits && number >= kLowest) return number;
  if (number <= kFarBelow && !is_added_to) return kLowest;
  return std::nullopt;
}

ValueInfo* mask_of(const Hidden& hidden, double number, DType dtype, ValueInfo* mask, Patch& patch,
                   const Node* position) {
  const double there = hidden.where_true ? number : 0, elsewhere = hidden.where_true ? 0 : number;
  ValueInfo* numbers = nullptr;
  for (const onnx::Use& use : hidden.truth->uses)
    if (use.node->is(Op::kWhere) && use.index == 0 && use.node->output()->dtype == dtype &&
        is(use.node->input(1), there) && is(use.node->input(2), elsewhere) &&
        onnx::is_visible(use.node->output(), position))
      numbers = use.node->output();
  const bool is_there = numbers != nullptr;
  if (!is_there)
    numbers =
        patch.node(Op::kWhere,
                   {hidden.truth, constant(patch, dtype, there), constant(patch, dtype, elsewhere)},
                   {}, hidden.truth->name + "_Where");
  if (mask == nullptr || numbers == nullptr) return numbers;
  if (is_there)
    for (const onnx::Use& use : numbers->uses)
      if (use.node->is(Op::kAdd) && use.node->input(1 - use.index) == mask &&
          onnx::is_visible(use.node->output(), position))
        return use.node->output();
  return patch.node(Op::kAdd, {numbers, mask}, {}, mask->name + "_Add");
}

}  // namespace sardonyx::passes

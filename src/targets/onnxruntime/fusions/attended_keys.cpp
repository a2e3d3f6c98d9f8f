#include "targets/onnxruntime/fusions/attended_keys.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"
#include "rewriting/index_conditions.h"
#include "rewriting/rewrite.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::AffineIndex;
using rewriting::made_by;
using symbolic::Expr;

// What adding does to a score, which then counts for nothing.
constexpr double kNone = -1e30;

std::optional<double> number(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr || value->constant->element_count() != 1)
    return std::nullopt;
  if (const auto ints = value->constant->ints()) return static_cast<double>(ints->front());
  const auto reals = value->constant->reals();
  return reals ? std::optional(reals->front()) : std::nullopt;
}

bool is_number(const ValueInfo* value, double wanted) {
  const auto found = number(value);
  return found && *found == wanted;
}

// The truth values that an additive mask is made of. A bound that keeps what is added finite
// changes nothing else.
const ValueInfo* truth_of(const ValueInfo* mask) {
  if (mask->dtype == base::DType::kBool) return mask;
  if (const Node* bound = made_by(mask, Op::kMax); bound != nullptr && bound->inputs.size() == 2) {
    const auto lowest = number(bound->input(1));
    if (lowest && *lowest <= kNone) mask = bound->input(0);
  }
  const Node* where = made_by(mask, Op::kWhere);
  if (where == nullptr || !is_number(where->input(1), 0)) return nullptr;
  const auto otherwise = number(where->input(2));
  return otherwise && *otherwise <= kNone ? where->input(0) : nullptr;
}

}  // namespace

std::optional<Attended> attended_keys(const ValueInfo* mask, const rewriting::Feeds& feeds) {
  const ValueInfo* truth = truth_of(mask);
  const auto condition = rewriting::condition_of(truth, feeds);
  if (!condition || truth->shape.size() > 4) return std::nullopt;
  Attended found;
  bool causal = false;
  for (const AffineIndex& each : condition->indices) {
    const AffineIndex index = each.with_rank(4);
    if (index.steps == std::vector<std::int64_t>{0, 0, 1, -1} && index.start == feeds.past) {
      causal = true;
      continue;
    }
    const Expr window = index.start + feeds.past + Expr(1);
    if (index.steps != std::vector<std::int64_t>{0, 0, -1, 1} || !window.is_constant() ||
        window.value() <= 0)
      return std::nullopt;
    found.window = found.window < 0 ? window.value() : std::min(found.window, window.value());
  }
  for (const AffineIndex& each : condition->padding) {
    if (each.with_rank(4).steps != std::vector<std::int64_t>{1, 0, 0, 2}) return std::nullopt;
    found.padded = true;
  }
  return causal ? std::optional(found) : std::nullopt;
}

}  // namespace sardonyx::targets

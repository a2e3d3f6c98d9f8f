#include "passes/rules/attention/kept_keys.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rewriting/index_conditions.h"

namespace sardonyx::passes {
namespace {

using rewriting::AffineIndex;
using symbolic::Expr;

bool never_negative(Expr number) { return number.known() && symbolic::range(number).low >= 0; }

// Whether it is 0 or more at this key of every row: at the first for 0, else at so many behind the
// row's own place.
bool holds_at_first(const AffineIndex& index, std::size_t rank) {
  return index.steps[rank - 2] >= 0 && never_negative(index.start);
}

bool holds_at_own(const AffineIndex& index, std::size_t rank, Expr own) {
  const std::int64_t row = index.steps[rank - 2], key = index.steps[rank - 1];
  return row + key == 0 && never_negative(index.start + Expr(key) * own);
}

}  // namespace

bool keeps_a_key(const onnx::ValueInfo* truth, bool wanted) {
  if (truth == nullptr || !truth->has_rank || truth->shape.size() < 2) return false;
  auto condition = rewriting::condition_of(truth, {});
  if (!wanted) condition = rewriting::opposite(std::move(condition));
  if (!condition || !condition->padding.empty()) return false;
  const std::size_t rank = truth->shape.size();
  for (AffineIndex& each : condition->indices) {
    each = each.with_rank(rank);
    if (!std::all_of(each.steps.begin(), each.steps.end() - 2, [](auto step) { return step == 0; }))
      return false;
  }
  const auto all = [&](const auto& holds) {
    return std::ranges::all_of(condition->indices, holds);
  };
  if (all([&](const AffineIndex& each) { return holds_at_first(each, rank); })) return true;
  const Expr rows = truth->shape[rank - 2], keys = truth->shape[rank - 1];
  if (!rows.known() || !keys.known()) return false;
  return std::ranges::any_of(condition->indices, [&](const AffineIndex& causal) {
    const Expr own = causal.start;
    return causal.steps[rank - 2] == 1 && causal.steps[rank - 1] == -1 && never_negative(own) &&
           never_negative(keys - rows - own) &&
           all([&](const AffineIndex& each) { return holds_at_own(each, rank, own); });
  });
}

}  // namespace sardonyx::passes

#include "frontends/torchscript/recording/size_assumptions.h"

#include <algorithm>
#include <unordered_set>

namespace sardonyx::torchscript {

using program::Value;
using symbolic::Expr;

namespace {

using Symbols = std::unordered_set<Expr, symbolic::ExprHash>;

void add_symbols(const Value* value, Symbols& found) {
  if (!value) return;
  const auto add = [&](Expr expr) {
    if (!expr.known()) return;
    for (const Expr symbol : symbolic::symbols_of(expr)) found.insert(symbol);
  };
  add(value->expr);
  std::ranges::for_each(value->shape, add);
}

}  // namespace

Expr equals_one(Expr size) { return symbolic::apply(symbolic::Kind::kEq, {size, 1}); }

std::optional<bool> SizeAssumptions::is_one(Expr size) const {
  if (const auto known = size.constant()) return *known == 1;
  if (symbolic::certainly_differ(size, 1)) return false;
  const Expr condition = equals_one(size);
  if (const auto known = condition.constant()) return *known != 0;
  const auto found = std::ranges::find(assumed_, condition, &std::pair<Expr, bool>::first);
  return found == assumed_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> SizeAssumptions::decide_rank(Expr size) {
  decided_a_rank_ = true;
  if (!branches_) return std::nullopt;
  Symbols known;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const auto& [graph, calls] = levels_[level];
    for (const Value* input : graph->inputs) add_symbols(input, known);
    for (std::size_t i = 0; i < calls; ++i)
      for (const Value* output : graph->calls[i]->outputs) add_symbols(output, known);
    const bool is_known = std::ranges::all_of(symbolic::symbols_of(size), [&](Expr symbol) {
      return !symbol.is_unbacked() || known.contains(symbol);
    });
    if (is_known && level >= first_level_) return level;
  }
  return std::nullopt;
}

}  // namespace sardonyx::torchscript

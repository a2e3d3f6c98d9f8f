// squeeze() of axes that may be 1 or not, as sizes decide: the rank of its result differs.
#include <algorithm>
#include <unordered_set>

#include "base/diagnostic.h"
#include "frontends/torchscript/interpreter/abstract_interpreter.h"
#include "frontends/torchscript/interpreter/builtins.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Value;
using symbolic::Expr;

namespace {

using Symbols = std::unordered_set<Expr, symbolic::ExprHash>;

Expr equals_one(Expr size) { return symbolic::apply(symbolic::Kind::kEq, {size, 1}); }

// The axes to remove, counted from the front; nothing where they are data-dependent.
std::optional<std::vector<std::size_t>> axes_of(const Operands& operands, std::size_t rank) {
  std::vector<AbstractValue> asked;
  const AbstractValue* dim = operands.find(1, "dim");
  if (!dim) {
    for (std::size_t i = 0; i < rank; ++i)
      asked.push_back(AbstractValue::of_int(static_cast<std::int64_t>(i)));
  } else if (dim->kind == Kind::kInt) {
    asked = {*dim};
  } else if (dim->kind == Kind::kList || dim->kind == Kind::kTuple) {
    asked = dim->held->items;
  } else {
    return std::nullopt;
  }
  std::vector<std::size_t> axes;
  for (const AbstractValue& each : asked) {
    const auto axis = each.kind == Kind::kInt ? each.expr.constant() : std::nullopt;
    const auto end = static_cast<std::int64_t>(rank);
    if (!axis || *axis < -end || *axis >= end) return std::nullopt;
    axes.push_back(static_cast<std::size_t>(*axis < 0 ? *axis + end : *axis));
  }
  return axes;
}

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

// Nothing where neither the size nor the branch that is followed tells.
std::optional<bool> AbstractInterpreter::is_one(Expr size) const {
  if (const auto known = size.constant()) return *known == 1;
  if (symbolic::certainly_differ(size, 1)) return false;
  const Expr condition = equals_one(size);
  if (const auto known = condition.constant()) return *known != 0;
  const auto found = std::ranges::find(assumed_, condition, &std::pair<Expr, bool>::first);
  return found == assumed_.end() ? std::nullopt : std::optional(found->second);
}

// The outermost statement that is followed once and before which the size is known;
// levels_.size() where none is.
std::size_t AbstractInterpreter::level_that_knows(Expr size) const {
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
  return levels_.size();
}

// The statements, to the end of their block, for either answer.
void AbstractInterpreter::branch_on_size(Expr condition, std::span<const Statement> statements) {
  Statement both;
  both.kind = Statement::Kind::kIf;
  both.offset = statements.front().offset;
  branch_to_the_end(both, of_condition(condition), statements);
}

// Nothing where the sizes of all axes are known, which the operator's own rule knows.
std::optional<AbstractValue> AbstractInterpreter::squeeze(const Operands& operands) {
  if (operands.op != "aten::squeeze" || operands.positional.empty()) return std::nullopt;
  const AbstractValue& self = operands.positional.front();
  if (!self.is_tensor() || !self.value || !self.value->has_rank) return std::nullopt;
  const std::vector<Expr> shape = self.value->shape;
  const auto axes = axes_of(operands, shape.size());
  if (!axes || std::ranges::all_of(*axes, [&](std::size_t i) { return shape[i].is_constant(); }))
    return std::nullopt;
  std::vector<std::size_t> removed;
  bool keeps = false;  // as torch.export has it, which the conversion reports
  for (const std::size_t axis : *axes) {
    const auto is_removed = is_one(shape[axis]);
    if (!is_removed) {
      squeezes_by_size_ = true;
      const std::size_t level = squeezes_ ? level_that_knows(shape[axis]) : levels_.size();
      if (level < levels_.size()) throw SizeDecides{equals_one(shape[axis]), level};
      keeps = true;
    } else if (*is_removed) {
      removed.push_back(axis);
    }
  }
  if (keeps && (removed.empty() || !squeezes_)) return std::nullopt;
  std::ranges::sort(removed, std::greater<>());
  AbstractValue made = call("aten::alias", {self});
  for (const std::size_t axis : removed) {
    const auto at = static_cast<std::int64_t>(axis);
    made = call("aten::select", {made, AbstractValue::of_int(at), AbstractValue::of_int(0)});
  }
  return made;
}

}  // namespace sardonyx::torchscript

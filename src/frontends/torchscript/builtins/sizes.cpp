// Sizes that are known only at run time and that may be -1, which stands for the tensor's own size.
#include <algorithm>

#include "frontends/torchscript/recording/builtins.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;

namespace {

bool may_mean_own(const AbstractValue& size) {
  return size.kind == Kind::kInt && size.expr.is_symbol() &&
         !symbolic::certainly_nonnegative(size.expr);
}

AbstractValue own_where_negative(GraphRecorder& recorder, const AbstractValue& size, Expr own) {
  const AbstractValue given = AbstractValue::of_tensor(recorder.tensor(size));
  const AbstractValue means_own = recorder.call("aten::eq", {given, AbstractValue::of_int(-1)});
  const AbstractValue other = AbstractValue::of_tensor(recorder.tensor(AbstractValue::of_int(own)));
  AbstractValue made = recorder.item(recorder.call("aten::where", {means_own, other, given}));
  recorder.pool().constrain(made.expr, symbolic::Range{.low = 0});
  return made;
}

std::optional<AbstractValue> expand(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* const sizes = operands.find(1, "size");
  const AbstractValue& self = operands.at(0);
  if (!sizes || !sizes->held || !self.is_tensor() || !self.value || !self.value->has_rank)
    return std::nullopt;
  std::vector<AbstractValue> items = sizes->held->items;
  const std::size_t rank = self.value->rank();
  if (items.size() < rank || std::ranges::none_of(items, may_mean_own)) return std::nullopt;
  const std::size_t added = items.size() - rank;
  bool differs = false;
  for (std::size_t i = added; i < items.size(); ++i) {
    if (!may_mean_own(items[i])) continue;
    items[i] = own_where_negative(recorder, items[i], self.value->shape[i - added]);
    differs = true;
  }
  if (!differs) return std::nullopt;
  return recorder.call("aten::expand",
                       {self, AbstractValue::of_items(Kind::kList, std::move(items))});
}

}  // namespace

void add_size_builtins(BuiltinTable& table) { table.emplace("aten::expand", expand); }

}  // namespace sardonyx::torchscript

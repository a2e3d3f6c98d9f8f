// Lists that are sorted and searched.
#include <algorithm>
#include <string>
#include <utility>

#include "frontends/torchscript/recording/builtins.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

// A number or text that is known, or a tuple of such.
bool has_known_place(const AbstractValue& item) {
  if (item.kind == Kind::kTuple) return std::ranges::all_of(item.held->items, has_known_place);
  if (item.kind == Kind::kString) return !item.is_message;
  if (item.kind == Kind::kInt) return item.expr.is_constant();
  return item.kind == Kind::kFloat && !item.expr.known();
}

// Tuples by their first elements that differ.
bool comes_before(const AbstractValue& left, const AbstractValue& right) {
  if (left.kind == Kind::kTuple) {
    return std::ranges::lexicographical_compare(left.held->items, right.held->items, comes_before);
  }
  if (left.kind == Kind::kString) return left.text < right.text;
  return left.kind == Kind::kInt ? left.expr.value() < right.expr.value() : left.real < right.real;
}

// The elements in order.
std::vector<AbstractValue> in_order(const AbstractValue& list, bool descending) {
  std::vector<AbstractValue> items = list.held->items;
  for (const AbstractValue& item : items)
    if (!has_known_place(item) || item.kind != items.front().kind)
      refuse("a list is sorted by " + description(item));
  std::ranges::stable_sort(items, [&](const AbstractValue& left, const AbstractValue& right) {
    return descending ? comes_before(right, left) : comes_before(left, right);
  });
  return items;
}

std::optional<AbstractValue> sort(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = operands.find(0, "self");
  if (!list || list->kind != Kind::kList) return std::nullopt;
  const AbstractValue* reverse = operands.find(1, "reverse");
  std::vector<AbstractValue> items = in_order(*list, reverse && reverse->expr.is(1));
  if (operands.op == "aten::sorted") return AbstractValue::of_items(Kind::kList, std::move(items));
  recorder.writes().before_write(list->held);
  list->held->items = std::move(items);
  return AbstractValue();
}

// Where the first element equal to `item` stands.
std::optional<AbstractValue> index_of(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *list = operands.find(0, "self"), *wanted = operands.find(1, "el");
  if (operands.op == "aten::count" && list && list->kind == Kind::kString)
    return count_in_text(operands);
  if (!list || !wanted || list->kind != Kind::kList) return std::nullopt;
  std::int64_t at = 0, count = 0, where = -1;
  for (const AbstractValue& item : list->held->items) {
    const auto same = equality(recorder, item, *wanted);
    if (!same || same->value || !same->expr.is_constant())
      refuse("a list is searched for " + description(*wanted));
    if (same->expr.value() != 0 && count++ == 0) where = at;
    ++at;
  }
  if (operands.op == "aten::count") return AbstractValue::of_int(count);
  if (where < 0) refuse("the list has no element " + description(*wanted));
  if (operands.op == "aten::index") return AbstractValue::of_int(where);
  recorder.writes().before_write(list->held);
  list->held->items.erase(list->held->items.begin() + where);
  return AbstractValue();
}

}  // namespace

void add_search_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::sort", sort},      {"aten::sorted", sort},     {"aten::index", index_of},
      {"aten::count", index_of}, {"aten::remove", index_of},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript

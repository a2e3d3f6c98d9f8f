#include "frontends/torchscript/interpreter/axes.h"

#include <algorithm>

#include "frontends/torchscript/recording/builtins.h"

namespace sardonyx::torchscript {

using program::Argument;
using program::List;
using program::Schema;
using program::Value;
using symbolic::Expr;

namespace {

// The axis among the arguments that is not known; null where all are.
Expr* unknown_axis(const Schema& schema, std::vector<Argument>& arguments) {
  const auto unknown = [](Argument& argument) {
    Expr* axis = argument.get<Expr>();
    return axis && !axis->is_constant() ? axis : nullptr;
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const program::Parameter& parameter = schema.parameters[i];
    if (!parameter.name.starts_with("dim") || parameter.type.kind != program::TypeKind::kInt)
      continue;
    if (Expr* axis = unknown(arguments[i])) return axis;
    List* list = arguments[i].get<List>();
    for (std::size_t j = 0; list && j < list->size(); ++j)
      if (Expr* axis = unknown((*list)[j])) return axis;
  }
  return nullptr;
}

// Of how many axes one is asked for; 0 where that is not known.
std::int64_t count_of_axes(const Schema& schema, const std::vector<Argument>& arguments) {
  if (arguments.empty()) return 0;
  const List* list = arguments.front().get<List>();
  if (list && list->empty()) return 0;
  const Value* tensor = program::tensor_of(list ? list->front() : arguments.front());
  if (!tensor || !tensor->has_rank) return 0;
  const bool adds_one = schema.name == "aten::unsqueeze" || schema.name == "aten::stack";
  return std::max<std::int64_t>(static_cast<std::int64_t>(tensor->rank()) + (adds_one ? 1 : 0), 1);
}

}  // namespace

std::optional<AbstractValue> call_for_each_axis(GraphRecorder& recorder, const Either& either,
                                                const Schema& schema,
                                                std::vector<Argument> arguments) {
  Expr* axis = unknown_axis(schema, arguments);
  const std::int64_t axes = axis ? count_of_axes(schema, arguments) : 0;
  if (axes == 0 || schema.mutates()) return std::nullopt;
  // Counted from the front; a run ends where there is no such axis.
  std::vector<AbstractValue> all;
  for (std::int64_t i = 0; i < axes; ++i) all.push_back(AbstractValue::of_int(i));
  const Expr asked = recorder
                         .call("aten::__getitem__",
                               {AbstractValue::of_items(AbstractValue::Kind::kList, std::move(all)),
                                AbstractValue::of_int(*axis)})
                         .expr;
  const std::function<AbstractValue(std::int64_t)> from = [&](std::int64_t first) {
    const auto with_first = [&] {
      *axis = first;
      std::optional<AbstractValue> others = call_for_each_axis(recorder, either, schema, arguments);
      return others ? std::move(*others) : recorder.call(schema, arguments);
    };
    if (first + 1 == axes) return with_first();
    return either(of_condition(symbolic::apply(symbolic::Kind::kEq, {asked, first})), with_first,
                  [&] { return from(first + 1); });
  };
  return from(0);
}

}  // namespace sardonyx::torchscript

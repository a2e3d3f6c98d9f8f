// Comparisons, equality and logic.
#include <functional>
#include <string>

#include "base/diagnostic.h"
#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/numbers.h"
#include "frontends/torchscript/recording/optionals.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;
using SymbolicKind = symbolic::Kind;

AbstractValue of_condition(Expr condition) {
  if (!condition.known())
    base::fail("SX1211", "a condition on numbers for which there is no formula");
  AbstractValue datum;
  datum.kind = Kind::kBool;
  datum.expr = condition;
  return datum;
}

namespace {

template <SymbolicKind kind, bool swapped, class Compare>
std::optional<AbstractValue> compare(GraphRecorder& recorder, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (pair.is_known()) {
    if (pair.is_real())
      return AbstractValue::of_bool(Compare()(real_of(*pair.left), real_of(*pair.right)));
    return AbstractValue::of_bool(Compare()(pair.left->expr.value(), pair.right->expr.value()));
  }
  Expr left = expression_of(recorder, *pair.left), right = expression_of(recorder, *pair.right);
  if (pair.is_real()) {
    left = as_float(recorder, left);
    right = as_float(recorder, right);
  }
  const Expr condition =
      swapped ? symbolic::apply(kind, {right, left}) : symbolic::apply(kind, {left, right});
  return of_condition(condition);
}

std::optional<AbstractValue> make_bool(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.kind == Kind::kBool) return value;
  if (value.is_tensor()) {
    if (!value.value) return of_condition(symbolic::apply(SymbolicKind::kNe, {value.expr, 0}));
    if (value.value->dtype == base::DType::kBool) return recorder.item(value);
    return recorder.item(recorder.call("aten::to", {value, AbstractValue::of_int(11)}));
  }
  if (!value.is_number()) return std::nullopt;
  return compare<SymbolicKind::kNe, false, std::not_equal_to<>>(
      recorder, {operands.op, {value, AbstractValue::of_int(0)}, {}});
}

template <bool conjunction>
std::optional<AbstractValue> logical(GraphRecorder& recorder, const Operands& operands) {
  if (operands.positional.size() != 2) return std::nullopt;
  const AbstractValue &left = operands.positional[0], &right = operands.positional[1];
  if (left.kind != Kind::kBool || right.kind != Kind::kBool)
    return bits_and_or(recorder, operands, conjunction);
  for (const auto* pair : {&left, &right}) {
    const AbstractValue& other = pair == &left ? right : left;
    if (pair->value || !pair->expr.is_constant()) continue;
    return (pair->expr.value() != 0) == conjunction ? other : *pair;
  }
  if (!left.value && !right.value) {
    return of_condition(symbolic::apply(conjunction ? SymbolicKind::kAnd : SymbolicKind::kOr,
                                        {left.expr, right.expr}));
  }
  return recorder.item(recorder.call(conjunction ? "aten::logical_and" : "aten::logical_or",
                                     {AbstractValue::of_tensor(recorder.truth_tensor(left)),
                                      AbstractValue::of_tensor(recorder.truth_tensor(right))}));
}

std::optional<AbstractValue> invert(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.kind != Kind::kBool) return std::nullopt;
  return negation(recorder, value);
}

// Equality of what is no tensor: numbers, texts, lists.
template <bool wanted>
std::optional<AbstractValue> equal(GraphRecorder& recorder, const Operands& operands) {
  if (operands.positional.size() != 2) return std::nullopt;
  std::optional<AbstractValue> same =
      equality(recorder, operands.positional[0], operands.positional[1]);
  if (!same) return std::nullopt;
  return wanted ? *same : negation(recorder, *same);
}

// `x is None`
template <bool wanted>
std::optional<AbstractValue> identical(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue &left = operands.at(0), &right = operands.at(1);
  if (right.is_none() && left.kind == Kind::kOptional)
    return wanted ? negation(recorder, presence(left)) : presence(left);
  if (left.is_none() || right.is_none())
    return AbstractValue::of_bool((left.is_none() && right.is_none()) == wanted);
  if (left.is_tensor() && right.is_tensor())
    return AbstractValue::of_bool((left.value && left.value == right.value) == wanted);
  return equal<wanted>(recorder, operands);
}

// What is there for certain, as the program says.
std::optional<AbstractValue> unwrapped(GraphRecorder&, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.is_none()) throw Raised{"Unwrapping null optional"};
  return value.kind == Kind::kOptional ? content(value) : value;
}

}  // namespace

AbstractValue negation(GraphRecorder& recorder, const AbstractValue& truth) {
  if (truth.value)
    return recorder.item(
        recorder.call("aten::logical_not", {AbstractValue::of_tensor(truth.value)}));
  if (truth.expr.is_constant()) return AbstractValue::of_bool(truth.expr.value() == 0);
  return of_condition(symbolic::apply(SymbolicKind::kNot, {truth.expr}));
}

// Members of an enumeration: of one class, with one value. Those that a module holds have no name.
static std::optional<AbstractValue> same_enumerator(GraphRecorder& recorder,
                                                    const AbstractValue& left,
                                                    const AbstractValue& right) {
  if (left.held == right.held) return AbstractValue::of_bool(true);
  if (left.held->type != right.held->type) return AbstractValue::of_bool(false);
  const AbstractValue *one = left.held->attribute("value"), *other = right.held->attribute("value");
  if (one && other) return equality(recorder, *one, *other);
  refuse("objects of " + left.held->type + " are compared");
}

// Of numbers of which one is a truth of data.
static AbstractValue equality_of_data(GraphRecorder& recorder, const AbstractValue& left,
                                      const AbstractValue& right) {
  return recorder.item(
      recorder.call("aten::eq", {AbstractValue::of_tensor(recorder.tensor(left)),
                                 AbstractValue::of_tensor(recorder.tensor(right))}));
}

std::optional<AbstractValue> equality(GraphRecorder& recorder, const AbstractValue& left,
                                      const AbstractValue& right) {
  for (const AbstractValue* each : {&left, &right})
    if (each->kind == Kind::kOptional) refuse(description(*each) + " is compared");
  if (left.is_number() && right.is_number() && (left.value || right.value))
    return equality_of_data(recorder, left, right);
  if (left.is_number() && right.is_number())
    return compare<SymbolicKind::kEq, false, std::equal_to<>>(recorder, {"", {left, right}, {}});
  const auto is_text = [](const AbstractValue& datum) {
    return datum.kind == Kind::kString || datum.kind == Kind::kDevice;
  };
  if ((is_text(left) && left.is_message) || (is_text(right) && right.is_message))
    refuse("a data-dependent string is compared");
  if (is_text(left) && is_text(right)) return AbstractValue::of_bool(left.text == right.text);
  const bool are_lists = left.kind == right.kind && left.held && left.kind != Kind::kStack;
  if (!are_lists) return std::nullopt;
  if (left.kind == Kind::kObject) return same_enumerator(recorder, left, right);
  if (left.held->items.size() != right.held->items.size()) return AbstractValue::of_bool(false);
  AbstractValue all = AbstractValue::of_bool(true);
  for (std::size_t i = 0; i < left.held->items.size(); ++i) {
    const auto each = equality(recorder, left.held->items[i], right.held->items[i]);
    if (!each) return std::nullopt;
    all = *logical<true>(recorder, {"", {all, *each}, {}});
  }
  return all;
}

// scalar_tensor() of a truth that is a tensor of data, which no number stands for.
static std::optional<AbstractValue> tensor_of_truth(GraphRecorder& recorder,
                                                    const Operands& operands) {
  const AbstractValue& given = operands.at(0);
  const bool is_truth = given.kind == Kind::kBool && given.value;
  const bool is_tensor = given.is_tensor() && given.value && given.value->has_rank &&
                         given.value->rank() == 0 && given.value->dtype == base::DType::kBool;
  const AbstractValue* const dtype = operands.find(1, "dtype");
  if (!(is_truth || is_tensor) || !dtype || dtype->kind != Kind::kInt) return std::nullopt;
  return recorder.call("aten::to", {AbstractValue::of_tensor(given.value), *dtype});
}

void add_logic_builtins(BuiltinTable& table) {
  using S = SymbolicKind;
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::lt", compare<S::kLt, false, std::less<>>},
      {"aten::gt", compare<S::kLt, true, std::greater<>>},
      {"aten::le", compare<S::kLe, false, std::less_equal<>>},
      {"aten::ge", compare<S::kLe, true, std::greater_equal<>>},
      {"aten::eq", equal<true>},
      {"aten::ne", equal<false>},
      {"aten::__is__", identical<true>},
      {"aten::__isnot__", identical<false>},
      {"aten::__and__", logical<true>},
      {"aten::__or__", logical<false>},
      {"aten::__not__", invert},
      {"aten::Bool", make_bool},
      {"aten::is_nonzero", make_bool},
      {"aten::scalar_tensor", tensor_of_truth},
      {"aten::_unwrap_optional", unwrapped},
      {"prim::unchecked_unwrap_optional", unwrapped},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript

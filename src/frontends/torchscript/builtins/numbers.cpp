// Arithmetic on numbers, and what makes them.
#include "frontends/torchscript/recording/numbers.h"

#include <cmath>
#include <string>

#include "frontends/torchscript/recording/builtins.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;
using SymbolicKind = symbolic::Kind;

namespace {

AbstractValue checked(const Operands& operands, AbstractValue made) {
  if (made.kind == Kind::kInt && !made.expr.known())
    refuse(operands.op + " of " + description(operands.positional[0]) +
           ": there is no formula for it");
  return made;
}

template <class OnIntegers, class OnReals>
std::optional<AbstractValue> arithmetic(GraphRecorder& recorder, const Operands& operands,
                                        const OnIntegers& on_integers, const OnReals& on_reals,
                                        std::optional<SymbolicKind> kind,
                                        const std::string& tensor_op = {}) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (!pair.is_real()) {
    return checked(operands, AbstractValue::of_int(on_integers(pair.left->expr, pair.right->expr)));
  }
  if (pair.is_known())
    return AbstractValue::of_real(on_reals(real_of(*pair.left), real_of(*pair.right)));
  if (!kind) return by_tensors(recorder, operands, tensor_op);
  return of_float(
      symbolic::apply(*kind, {as_float(recorder, expression_of(recorder, *pair.left)),
                              as_float(recorder, expression_of(recorder, *pair.right))}));
}

double floor_modulo(double a, double b) { return a - b * std::floor(a / b); }

std::optional<AbstractValue> add(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* left = operands.find(0, "a");
  const AbstractValue* right = operands.find(1, "b");
  if (left && right && left->kind == Kind::kString && right->kind == Kind::kString) {
    constexpr std::size_t kLongestText = 1'000'000;
    if (left->text.size() + right->text.size() > kLongestText)
      refuse("a text of more than a million letters");
    return left->is_message || right->is_message
               ? AbstractValue::of_message(left->text + right->text)
               : AbstractValue::of_text(left->text + right->text);
  }
  return arithmetic(
      recorder, operands, [](Expr a, Expr b) { return a + b; },
      [](double a, double b) { return a + b; }, SymbolicKind::kAdd);
}

std::optional<AbstractValue> subtract(GraphRecorder& recorder, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (pair && pair.is_real() && !pair.is_known()) {
    const Expr right = as_float(recorder, expression_of(recorder, *pair.right));
    const Expr minus = symbolic::apply(SymbolicKind::kMul, {recorder.pool().real(-1.0), right});
    return of_float(symbolic::apply(
        SymbolicKind::kAdd, {as_float(recorder, expression_of(recorder, *pair.left)), minus}));
  }
  return arithmetic(
      recorder, operands, [](Expr a, Expr b) { return a - b; },
      [](double a, double b) { return a - b; }, std::nullopt);
}

std::optional<AbstractValue> multiply(GraphRecorder& recorder, const Operands& operands) {
  return arithmetic(
      recorder, operands, [](Expr a, Expr b) { return a * b; },
      [](double a, double b) { return a * b; }, SymbolicKind::kMul);
}

std::optional<AbstractValue> floor_divide(GraphRecorder& recorder, const Operands& operands) {
  return arithmetic(
      recorder, operands, [](Expr a, Expr b) { return symbolic::floor_div(a, b); },
      [](double a, double b) { return std::floor(a / b); }, std::nullopt, "aten::floor_divide");
}

std::optional<AbstractValue> remainder(GraphRecorder& recorder, const Operands& operands) {
  return arithmetic(
      recorder, operands, [](Expr a, Expr b) { return symbolic::mod(a, b); }, floor_modulo,
      std::nullopt);
}

std::optional<AbstractValue> divide(GraphRecorder& recorder, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (pair.is_known()) return AbstractValue::of_real(real_of(*pair.left) / real_of(*pair.right));
  return of_float(symbolic::apply(SymbolicKind::kTrueDiv, {expression_of(recorder, *pair.left),
                                                           expression_of(recorder, *pair.right)}));
}

// Of integers it is a float, too.
std::optional<AbstractValue> power(GraphRecorder& recorder, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (pair.is_known())
    return AbstractValue::of_real(std::pow(real_of(*pair.left), real_of(*pair.right)));
  if (!pair.is_real() && pair.right->expr.is_constant() && pair.right->expr.value() >= 0)
    return of_float(as_float(recorder, symbolic::pow(pair.left->expr, pair.right->expr)));
  return by_real_tensors(recorder, operands, operands.op);
}

template <bool maximum>
std::optional<AbstractValue> extreme(GraphRecorder& recorder, const Operands& operands) {
  if (operands.positional.size() == 1) {
    const AbstractValue& list = operands.positional[0];
    if (list.kind != Kind::kList || list.held->items.empty()) return std::nullopt;
    AbstractValue best = list.held->items[0];
    if (!best.is_number()) return std::nullopt;
    for (std::size_t i = 1; i < list.held->items.size(); ++i)
      best = *extreme<maximum>(recorder, {operands.op, {best, list.held->items[i]}, {}});
    return best;
  }
  return arithmetic(
      recorder, operands,
      [](Expr a, Expr b) { return maximum ? symbolic::max(a, b) : symbolic::min(a, b); },
      [](double a, double b) { return maximum ? std::fmax(a, b) : std::fmin(a, b); }, std::nullopt,
      maximum ? "aten::maximum" : "aten::minimum");
}

std::optional<AbstractValue> negate(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.kind == Kind::kInt) return AbstractValue::of_int(-value.expr);
  if (value.kind != Kind::kFloat) return std::nullopt;
  return multiply(recorder, {operands.op, {value, AbstractValue::of_real(-1)}, {}});
}

std::optional<AbstractValue> absolute(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.kind == Kind::kInt)
    return AbstractValue::of_int(symbolic::max(value.expr, -value.expr));
  if (value.kind == Kind::kFloat && is_known_real(value))
    return AbstractValue::of_real(std::fabs(value.real));
  if (value.kind == Kind::kFloat) return by_tensors(recorder, operands, "aten::abs");
  return std::nullopt;
}

// To an integer: floor, ceil, trunc, round.
template <SymbolicKind kind>
std::optional<AbstractValue> to_integer(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.is_tensor()) return std::nullopt;
  if (value.kind == Kind::kInt) return value;
  if (value.kind == Kind::kBool && value.value)
    return recorder.item(recorder.call(
        "aten::to", {AbstractValue::of_tensor(value.value), AbstractValue::of_int(4)}));
  if (value.kind == Kind::kBool && value.expr.is_constant())
    return AbstractValue::of_int(value.expr);
  if (value.kind == Kind::kBool)
    return AbstractValue::of_int(symbolic::apply(SymbolicKind::kIf, {value.expr, 1, 0}));
  if (value.kind != Kind::kFloat) return std::nullopt;
  if (!value.expr.known()) {
    const double real = kind == SymbolicKind::kFloorToInt  ? std::floor(value.real)
                        : kind == SymbolicKind::kCeilToInt ? std::ceil(value.real)
                                                           : std::trunc(value.real);
    return AbstractValue::of_int(static_cast<std::int64_t>(real));
  }
  return checked(operands, AbstractValue::of_int(symbolic::apply(kind, {value.expr})));
}

std::optional<AbstractValue> make_int(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (!value.is_tensor()) return to_integer<SymbolicKind::kTruncToInt>(recorder, operands);
  if (!value.value)
    return to_integer<SymbolicKind::kTruncToInt>(recorder,
                                                 {operands.op, {recorder.item(value)}, {}});
  if (value.value->dtype == base::DType::kInt64) return recorder.item(value);
  return recorder.item(recorder.call("aten::to", {value, AbstractValue::of_int(4)}));
}

std::optional<AbstractValue> make_float(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.is_tensor() && value.value) {
    if (base::is_floating(value.value->dtype)) return recorder.item(value);
    return recorder.item(recorder.call("aten::to", {value, AbstractValue::of_int(7)}));
  }
  if (value.is_tensor()) return make_float(recorder, {operands.op, {recorder.item(value)}, {}});
  if (value.kind == Kind::kFloat) return value;
  if (value.kind == Kind::kString && !value.is_message)
    return AbstractValue::of_real(std::strtod(value.text.c_str(), nullptr));
  if (value.value)
    return recorder.item(recorder.call(
        "aten::to", {AbstractValue::of_tensor(value.value), AbstractValue::of_int(7)}));
  if (value.expr.is_constant())
    return AbstractValue::of_real(static_cast<double>(value.expr.value()));
  return of_float(symbolic::apply(SymbolicKind::kToFloat, {value.expr}));
}

// How often `for i in range(low, high, step)` runs.
std::optional<AbstractValue> range_length(GraphRecorder&, const Operands& operands) {
  const Expr low = operands.at(0).expr, high = operands.at(1).expr;
  const Expr step = operands.at(2).expr;
  if (step.is(0)) refuse("a range with a step of 0");
  const Expr sign = symbolic::min(symbolic::max(step, -1), 1);
  return checked(operands, AbstractValue::of_int(symbolic::max(
                               symbolic::floor_div(high - low + step - sign, step), 0)));
}

// The number of its run `i`.
std::optional<AbstractValue> derive_index(GraphRecorder&, const Operands& operands) {
  return AbstractValue::of_int(operands.at(1).expr + operands.at(0).expr * operands.at(2).expr);
}

std::optional<AbstractValue> quotient_and_rest(GraphRecorder& recorder, const Operands& operands) {
  const auto quotient = floor_divide(recorder, operands), rest = remainder(recorder, operands);
  if (!quotient || !rest) return std::nullopt;
  return AbstractValue::of_items(Kind::kTuple, {*quotient, *rest});
}

// To the nearest, a half to the even one; a float, or the integer itself.
std::optional<AbstractValue> rounded(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (!value.is_number() || operands.positional.size() > 1) return std::nullopt;
  if (value.kind != Kind::kFloat) return value;
  if (is_known_real(value)) return AbstractValue::of_real(std::nearbyint(value.real));
  return by_tensors(recorder, operands);
}

}  // namespace

void add_number_builtins(BuiltinTable& table) {
  using S = SymbolicKind;
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::sub", subtract},
      {"aten::div", divide},
      {"aten::floordiv", floor_divide},
      {"aten::remainder", remainder},
      {"aten::pow", power},
      {"aten::neg", negate},
      {"aten::abs", absolute},
      {"prim::abs", absolute},
      {"prim::min", extreme<false>},
      {"prim::max", extreme<true>},
      {"aten::min", extreme<false>},
      {"aten::max", extreme<true>},
      {"aten::Int", make_int},
      {"aten::IntImplicit", make_int},
      {"aten::Float", make_float},
      {"aten::FloatImplicit", make_float},
      {"aten::__range_length", range_length},
      {"aten::__derive_index", derive_index},
      {"aten::divmod", quotient_and_rest},
      {"aten::round", rounded},
      {"aten::floor", to_integer<S::kFloorToInt>},
      {"aten::ceil", to_integer<S::kCeilToInt>},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
  // Lists add and multiply, too.
  table.emplace("number::add", add);
  table.emplace("number::mul", multiply);
}

}  // namespace sardonyx::torchscript

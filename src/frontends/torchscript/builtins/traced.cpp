// Numbers that tracing made tensors, and arithmetic on them: sizes of tensors, above all.
#include <string>

#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/numbers.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;

namespace {

// A 0-d tensor that is a number, until a tensor is needed.
std::optional<AbstractValue> number_to_tensor(GraphRecorder& recorder, const Operands& operands) {
  return recorder.traced_number(operands.at(0));
}

bool is_wrapped(const AbstractValue& datum) { return datum.is_tensor() && !datum.value; }

// Also a number of Python that the code writes as one.
bool is_number(const AbstractValue& datum) {
  return is_wrapped(datum) ||
         (!datum.value && (datum.kind == Kind::kInt || datum.kind == Kind::kFloat));
}

bool is_integer(GraphRecorder& recorder, const AbstractValue& datum) {
  return recorder.item(datum).kind == Kind::kInt;
}

struct Wrapped {
  const AbstractValue* left = nullptr;
  const AbstractValue* right = nullptr;

  bool is_python() const { return left->is_python_number || right->is_python_number; }
};

// Nothing where one is a tensor of data.
std::optional<Wrapped> wrapped(const Operands& operands) {
  const AbstractValue *left = operands.find(0, "self"), *right = operands.find(1, "other");
  if (!right) right = operands.find(1, "exponent");
  if (!left || !right || !is_number(*left) || !is_number(*right)) return std::nullopt;
  if (!is_wrapped(*left) && !is_wrapped(*right)) return std::nullopt;
  const AbstractValue *alpha = operands.find(2, "alpha"), *mode = operands.find(2, "rounding_mode");
  if ((alpha && !alpha->expr.is(1)) || (mode && !mode->is_none())) return std::nullopt;
  return Wrapped{left, right};
}

// As Python computes, where the numbers were Python's.
std::optional<AbstractValue> in_python(GraphRecorder& recorder, const std::string& op,
                                       const Wrapped& pair) {
  if (!pair.is_python()) return std::nullopt;
  const AbstractValue made =
      recorder.call(op, {recorder.item(*pair.left), recorder.item(*pair.right)});
  return made.is_number() ? std::optional(recorder.traced_number(made)) : std::nullopt;
}

template <Expr (*formula)(Expr, Expr)>
std::optional<AbstractValue> arithmetic(GraphRecorder& recorder, const Operands& operands) {
  const auto pair = wrapped(operands);
  if (!pair) return std::nullopt;
  if (!is_integer(recorder, *pair->left) || !is_integer(recorder, *pair->right)) {
    const bool floors = operands.op == "aten::floor_divide";
    return in_python(recorder, floors ? "aten::floordiv" : operands.op, *pair);
  }
  AbstractValue made;
  made.kind = Kind::kTensor;
  made.expr = formula(pair->left->expr, pair->right->expr);
  made.is_python_number = pair->is_python();
  return made.expr.known() ? std::optional(made) : std::nullopt;
}

Expr plus(Expr a, Expr b) { return a + b; }
Expr minus(Expr a, Expr b) { return a - b; }
Expr times(Expr a, Expr b) { return a * b; }
Expr quotient(Expr a, Expr b) { return symbolic::floor_div(a, b); }
Expr rest(Expr a, Expr b) { return symbolic::mod(a, b); }

std::optional<AbstractValue> reversed_minus(GraphRecorder& recorder, const Operands& operands) {
  const auto pair = wrapped(operands);
  return pair ? arithmetic<minus>(recorder, {"aten::sub", {*pair->right, *pair->left}, {}})
              : std::nullopt;
}

std::optional<AbstractValue> divide(GraphRecorder& recorder, const Operands& operands) {
  const auto pair = wrapped(operands);
  return pair ? in_python(recorder, "aten::div", *pair) : std::nullopt;
}

// Integers stay integers where Python's do, and the root of a size has an expression of its own.
std::optional<AbstractValue> power(GraphRecorder& recorder, const Operands& operands) {
  const auto pair = wrapped(operands);
  if (!pair || !pair->is_python()) return std::nullopt;
  const AbstractValue base = recorder.item(*pair->left), exponent = recorder.item(*pair->right);
  if (base.kind == Kind::kInt && exponent.kind == Kind::kInt && exponent.expr.is_constant() &&
      exponent.expr.value() >= 0)
    return recorder.traced_number(AbstractValue::of_int(symbolic::pow(base.expr, exponent.expr)));
  const bool is_root = exponent.kind == Kind::kFloat && is_known_real(exponent) &&
                       (exponent.real == 0.5 || exponent.real == -0.5);
  if (!is_root) return in_python(recorder, "aten::pow", *pair);
  const AbstractValue root = recorder.call("aten::sqrt", {base});
  return recorder.traced_number(
      exponent.real > 0 ? root : recorder.call("aten::div", {AbstractValue::of_real(1), root}));
}

std::optional<AbstractValue> negative(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* value = operands.find(0, "self");
  if (!value || !is_wrapped(*value) || !value->is_python_number) return std::nullopt;
  return recorder.traced_number(recorder.call("aten::neg", {recorder.item(*value)}));
}

}  // namespace

void add_traced_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"prim::NumToTensor", number_to_tensor},
      {"aten::floor_divide", arithmetic<quotient>},
      {"wrapped::add", arithmetic<plus>},
      {"wrapped::mul", arithmetic<times>},
      {"wrapped::sub", arithmetic<minus>},
      {"wrapped::remainder", arithmetic<rest>},
      {"wrapped::rsub", reversed_minus},
      {"wrapped::div", divide},
      {"wrapped::true_divide", divide},
      {"wrapped::pow", power},
      {"wrapped::neg", negative},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript

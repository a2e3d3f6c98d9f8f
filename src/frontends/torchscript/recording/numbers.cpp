#include "frontends/torchscript/recording/numbers.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;
using SymbolicKind = symbolic::Kind;

bool is_known_real(const AbstractValue& datum) {
  return (datum.kind == Kind::kFloat && !datum.expr.known()) ||
         (datum.kind != Kind::kFloat && datum.expr.is_constant());
}

double real_of(const AbstractValue& datum) {
  return datum.kind == Kind::kFloat ? datum.real : static_cast<double>(datum.expr.value());
}

Expr expression_of(GraphRecorder& recorder, const AbstractValue& datum) {
  if (datum.kind == Kind::kFloat && !datum.expr.known()) return recorder.pool().real(datum.real);
  return datum.expr;
}

Pair numbers(const Operands& operands) {
  const AbstractValue* left = operands.find(0, "a");
  const AbstractValue* right = operands.find(1, "b");
  if (!left || !right || !left->is_number() || !right->is_number()) return {};
  if (left->value || right->value) return {};
  return {left, right};
}

AbstractValue of_float(Expr expr) {
  if (!expr.known()) refuse("arithmetic on numbers for which there is no formula");
  AbstractValue datum;
  datum.kind = Kind::kFloat;
  if (expr.known() && expr.kind() == SymbolicKind::kReal)
    return AbstractValue::of_real(expr.real());
  datum.expr = expr;
  return datum;
}

Expr as_float(GraphRecorder& recorder, Expr expr) {
  if (expr.is_constant()) return recorder.pool().real(static_cast<double>(expr.value()));
  return expr.is_float() || expr.kind() == SymbolicKind::kReal
             ? expr
             : symbolic::apply(SymbolicKind::kToFloat, {expr});
}

AbstractValue by_tensors(GraphRecorder& recorder, const Operands& operands, const std::string& op) {
  std::vector<AbstractValue> tensors;
  for (const AbstractValue& number : operands.positional)
    tensors.push_back(AbstractValue::of_tensor(recorder.tensor(number)));
  return recorder.item(recorder.call(op.empty() ? operands.op : op, std::move(tensors)));
}

AbstractValue by_real_tensors(GraphRecorder& recorder, const Operands& operands,
                              const std::string& op) {
  constexpr std::int64_t kDouble = 7;
  std::vector<AbstractValue> tensors;
  for (const AbstractValue& number : operands.positional) {
    const AbstractValue tensor = AbstractValue::of_tensor(recorder.tensor(number));
    tensors.push_back(number.kind == Kind::kFloat
                          ? tensor
                          : recorder.call("aten::to", {tensor, AbstractValue::of_int(kDouble)}));
  }
  return recorder.item(recorder.call(op, std::move(tensors)));
}

}  // namespace sardonyx::torchscript

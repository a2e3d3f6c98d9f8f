#include "frontends/torchscript/numbers.h"

namespace sardonyx::torchscript {

using Kind = Datum::Kind;
using symbolic::Expr;
using SymbolicKind = symbolic::Kind;

bool is_known_real(const Datum& datum) {
  return (datum.kind == Kind::kFloat && !datum.expr.known()) ||
         (datum.kind != Kind::kFloat && datum.expr.is_constant());
}

double real_of(const Datum& datum) {
  return datum.kind == Kind::kFloat ? datum.real : static_cast<double>(datum.expr.value());
}

Expr expression_of(Follower& follower, const Datum& datum) {
  if (datum.kind == Kind::kFloat && !datum.expr.known()) return follower.pool().real(datum.real);
  return datum.expr;
}

Pair numbers(const Operands& operands) {
  const Datum* left = operands.find(0, "a");
  const Datum* right = operands.find(1, "b");
  if (!left || !right || !left->is_number() || !right->is_number()) return {};
  if (left->value || right->value) return {};
  return {left, right};
}

Datum of_float(Follower& follower, Expr expr) {
  if (!expr.known()) follower.refuse("arithmetic on numbers for which there is no formula");
  Datum datum;
  datum.kind = Kind::kFloat;
  if (expr.known() && expr.kind() == SymbolicKind::kReal) return Datum::of_real(expr.real());
  datum.expr = expr;
  return datum;
}

Expr as_float(Follower& follower, Expr expr) {
  if (expr.is_constant()) return follower.pool().real(static_cast<double>(expr.value()));
  return expr.is_float() || expr.kind() == SymbolicKind::kReal
             ? expr
             : symbolic::apply(SymbolicKind::kToFloat, {expr});
}

Datum by_tensors(Follower& follower, const Operands& operands, const std::string& op) {
  std::vector<Datum> tensors;
  for (const Datum& number : operands.positional)
    tensors.push_back(Datum::of_tensor(follower.tensor(number)));
  return follower.item(follower.call(op.empty() ? operands.op : op, std::move(tensors)));
}

Datum by_real_tensors(Follower& follower, const Operands& operands, const std::string& op) {
  constexpr std::int64_t kDouble = 7;
  std::vector<Datum> tensors;
  for (const Datum& number : operands.positional) {
    const Datum tensor = Datum::of_tensor(follower.tensor(number));
    tensors.push_back(number.kind == Kind::kFloat
                          ? tensor
                          : follower.call("aten::to", {tensor, Datum::of_int(kDouble)}));
  }
  return follower.item(follower.call(op, std::move(tensors)));
}

}  // namespace sardonyx::torchscript

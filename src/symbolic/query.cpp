// Questions about expressions that need no arithmetic of their own.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "symbolic/build.h"
#include "symbolic/polynomial.h"

namespace sardonyx::symbolic {
namespace {

void collect(Expr e, std::vector<Expr>& found, std::unordered_set<const Node*>& seen) {
  if (e.is_constant() || !seen.insert(e.node()).second) return;
  if (e.is_symbol()) found.push_back(e);
  for (Expr operand : e.operands()) collect(operand, found, seen);
}

bool mentions(Expr e, Expr symbol) {
  if (e == symbol) return true;
  const std::span<const Expr> operands = e.operands();
  return std::any_of(operands.begin(), operands.end(),
                     [&](Expr operand) { return mentions(operand, symbol); });
}

}  // namespace

std::vector<Expr> symbols_of(Expr e) {
  std::vector<Expr> found;
  std::unordered_set<const Node*> seen;
  collect(e, found, seen);
  return found;
}

bool depends_on_data(Expr e) {
  if (!e.known() || e.is_constant()) return false;
  return std::ranges::any_of(symbols_of(e), [](Expr symbol) { return symbol.is_unbacked(); });
}

std::optional<Linear> linear_in(Expr e, Expr symbol) {
  if (!e.known() || !symbol.is_symbol() || e.is_float() || symbol.is_float()) return std::nullopt;
  Polynomial p = polynomial_of(e);
  const std::int64_t coefficient = p.coefficient_of(symbol.node());
  if (p.overflow || coefficient == 0) return std::nullopt;
  std::erase_if(p.terms, [&](const Term& term) { return term.monomial == symbol.node(); });
  const Expr rest = expression_of(*symbol.node()->pool, p);
  if (!rest.known() || mentions(rest, symbol)) return std::nullopt;
  return Linear{coefficient, rest};
}

Expr substitute(Expr e, Expr from, Expr to) {
  if (e == from) return to;
  if (e.is_constant() || !e.known() || !from.known() || from.is_constant()) return e;
  const Node* node = e.node();
  // 2*a*b holds a*b, though no operand of it is that.
  if (node->coefficient != 1 && node->monomial == from.node()) return to * node->coefficient;
  std::vector<Expr> operands(e.operands().begin(), e.operands().end());
  bool changed = false;
  for (Expr& operand : operands) {
    const Expr replaced = substitute(operand, from, to);
    changed = changed || !(replaced == operand);
    operand = replaced;
  }
  return changed ? build(node->pool, node->kind, operands, node->name) : e;
}

}  // namespace sardonyx::symbolic

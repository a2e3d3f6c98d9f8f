// The order of operands: by structure and names, the same in every run and for every front end.
#include <bit>
#include <compare>

#include "symbolic/node.h"

namespace sardonyx::symbolic {
namespace {

int sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

int order_of_reals(double a, double b) {
  if (a < b) return -1;
  if (a > b) return 1;
  // Equal, zeros of both signs, or NaN: the bits decide.
  return sign(std::bit_cast<std::uint64_t>(a) <=> std::bit_cast<std::uint64_t>(b));
}

}  // namespace

int structural_order(Expr a, Expr b, Names names) {
  const Node* x = a.node();
  const Node* y = b.node();
  if (x == y) return sign(a.value() <=> b.value());
  if (!x || !y) return x ? 1 : -1;
  if (x->kind != y->kind) return sign(x->kind <=> y->kind);
  if (x->kind == Kind::kSymbol) {
    const bool displayed = names == Names::kDisplayed;
    return sign((displayed ? x->display : x->name) <=> (displayed ? y->display : y->name));
  }
  if (x->kind == Kind::kReal) return order_of_reals(x->real, y->real);
  if (int order = sign(x->name <=> y->name)) return order;
  if (int order = sign(x->operand_count <=> y->operand_count)) return order;
  // Interned operands that are equal are the same, so at most one pair is descended into.
  for (std::size_t i = 0; i < x->operand_count; ++i)
    if (int order = structural_order(x->operands[i], y->operands[i], names)) return order;
  return 0;
}

int monomial_order(const Node* a, const Node* b, Names names) {
  if (a == b) return 0;
  if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
  const std::size_t count = std::min(factor_count(a), factor_count(b));
  for (std::size_t i = 0; i < count; ++i) {
    const Factor x = factor_at(a, i);
    const Factor y = factor_at(b, i);
    if (int order = structural_order(Pool::Impl::wrap(x.atom), Pool::Impl::wrap(y.atom), names))
      return order;
    if (x.exponent != y.exponent) return x.exponent > y.exponent ? -1 : 1;
  }
  return factor_count(a) < factor_count(b) ? -1 : 1;
}

Factor factor_of(const Node* node) {
  if (node->kind == Kind::kPow && node->type == Type::kInt && node->operands[1].is_constant())
    return {node->operands[0].node(), node->operands[1].value()};
  return {node, 1};
}

std::size_t factor_count(const Node* monomial) {
  return monomial->kind == Kind::kMul && monomial->type == Type::kInt ? monomial->operand_count : 1;
}

Factor factor_at(const Node* monomial, std::size_t index) {
  if (monomial->kind == Kind::kMul && monomial->type == Type::kInt)
    return factor_of(monomial->operands[index].node());
  return factor_of(monomial);
}

}  // namespace sardonyx::symbolic

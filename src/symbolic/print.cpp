// Readable text in Python's notation. Operands stand in the order of the displayed names, so that
// the text is the same for equal programs.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "symbolic/node.h"

namespace sardonyx::symbolic {
namespace {

// How tightly an expression's outermost operator binds.
enum class Binding : std::uint8_t {
  kChoice,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kSum,
  kProduct,
  kSign,
  kPower,
  kAtom
};

std::string parenthesized(std::string text, Binding has, Binding wants) {
  return has < wants ? "(" + text + ")" : text;
}

struct Text {
  std::string text;
  Binding binding;

  std::string at(Binding wants) const { return parenthesized(text, binding, wants); }
};

Text print(Expr e);

std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string joined(std::span<const Expr> operands, std::string_view separator, Binding wants) {
  std::string text;
  for (Expr e : operands) {
    if (!text.empty()) text += separator;
    text += print(e).at(wants);
  }
  return text;
}

Text call(std::string_view name, std::span<const Expr> operands) {
  return {std::string(name) + "(" + joined(operands, ", ", Binding::kChoice) + ")", Binding::kAtom};
}

Text infix(std::span<const Expr> operands, std::string_view separator, Binding binding,
           Binding left, Binding right) {
  return {print(operands[0]).at(left) + std::string(separator) + print(operands[1]).at(right),
          binding};
}

std::vector<Expr> ordered(std::span<const Expr> operands) {
  std::vector<Expr> sorted(operands.begin(), operands.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](Expr a, Expr b) {
    // Constants first; only products hold one.
    if (a.is_constant() || b.is_constant()) return a.is_constant() && !b.is_constant();
    const Node* x = a.node();
    const Node* y = b.node();
    const Factor p = factor_of(x);
    const Factor q = factor_of(y);
    const int order =
        structural_order(Pool::Impl::wrap(p.atom), Pool::Impl::wrap(q.atom), Names::kDisplayed);
    return order < 0;
  });
  return sorted;
}

// A monomial's text order: as monomial_order, with its factors in the order of displayed names.
bool term_before(Expr a, Expr b) {
  if (a.is_constant() || b.is_constant()) return !a.is_constant() && b.is_constant();
  const Node* x = a.node()->monomial;
  const Node* y = b.node()->monomial;
  if (x->degree != y->degree) return x->degree > y->degree;
  const auto factors = [](const Node* monomial) {
    std::vector<Factor> result;
    for (std::size_t i = 0; i < factor_count(monomial); ++i)
      result.push_back(factor_at(monomial, i));
    std::sort(result.begin(), result.end(), [](const Factor& p, const Factor& q) {
      return structural_order(Pool::Impl::wrap(p.atom), Pool::Impl::wrap(q.atom),
                              Names::kDisplayed) < 0;
    });
    return result;
  };
  const std::vector<Factor> p = factors(x);
  const std::vector<Factor> q = factors(y);
  for (std::size_t i = 0; i < std::min(p.size(), q.size()); ++i) {
    const int order = structural_order(Pool::Impl::wrap(p[i].atom), Pool::Impl::wrap(q[i].atom),
                                       Names::kDisplayed);
    if (order != 0) return order < 0;
    if (p[i].exponent != q[i].exponent) return p[i].exponent > q[i].exponent;
  }
  return p.size() < q.size();
}

bool is_negative(Expr term) {
  return term.is_constant() ? term.value() < 0 : term.node()->coefficient < 0;
}

Text print_product(Expr e) {
  const std::vector<Expr> factors = ordered(e.operands());
  std::string text;
  std::size_t first = 0;
  if (factors[0].is(-1)) {
    text = "-";
    first = 1;
  }
  for (std::size_t i = first; i < factors.size(); ++i) {
    if (i != first) text += "*";
    // Of the operators of the same strength only a leading product needs no parentheses, and a
    // negative constant stands first.
    text += print(factors[i]).at(i == 0 ? Binding::kSign : Binding::kPower);
  }
  return {std::move(text), Binding::kProduct};
}

Text print_sum(Expr e) {
  std::vector<Expr> terms(e.operands().begin(), e.operands().end());
  if (e.is_float()) return {joined(ordered(e.operands()), " + ", Binding::kSum), Binding::kSum};
  std::stable_sort(terms.begin(), terms.end(), term_before);
  // "5 - s0" reads better than "-s0 + 5".
  const auto positive = std::find_if_not(terms.begin(), terms.end(), is_negative);
  if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
  std::string text;
  for (Expr term : terms) {
    std::string part = print(term).at(Binding::kProduct);
    if (text.empty()) {
      text = std::move(part);
    } else if (part[0] == '-') {
      text += " - " + part.substr(1);
    } else {
      text += " + " + part;
    }
  }
  return {std::move(text), Binding::kSum};
}

// Of integers a <= b - 1 is meant as a < b.
Text print_less_equal(std::span<const Expr> operands) {
  const Expr right = operands[1];
  if (right.kind() == Kind::kAdd && right.operands().back().is(-1))
    return infix(std::array{operands[0], right + 1}, " < ", Binding::kCompare, Binding::kSum,
                 Binding::kSum);
  return infix(operands, " <= ", Binding::kCompare, Binding::kSum, Binding::kSum);
}

Text print(Expr e) {
  const std::span<const Expr> operands = e.operands();
  switch (e.kind()) {
    case Kind::kUnknown:
      return {"?", Binding::kAtom};
    case Kind::kInteger:
      return {std::to_string(e.value()), e.value() < 0 ? Binding::kSign : Binding::kAtom};
    case Kind::kReal:
      return {format_double(e.real()), std::signbit(e.real()) ? Binding::kSign : Binding::kAtom};
    case Kind::kSymbol:
      return {std::string(e.node()->display), Binding::kAtom};
    case Kind::kAdd:
      return print_sum(e);
    case Kind::kMul:
      return print_product(e);
    case Kind::kPow:
      return infix(operands, "**", Binding::kPower, Binding::kAtom, Binding::kAtom);
    case Kind::kFloorDiv:
      return infix(operands, "//", Binding::kProduct, Binding::kPower, Binding::kPower);
    case Kind::kMod:
      return infix(operands, " % ", Binding::kProduct, Binding::kPower, Binding::kPower);
    case Kind::kTrueDiv:
      return infix(operands, "/", Binding::kProduct, Binding::kPower, Binding::kPower);
    case Kind::kMin:
    case Kind::kMax:
      return call(e.kind() == Kind::kMin ? "min" : "max", ordered(operands));
    case Kind::kToFloat:
      return call("float", operands);
    case Kind::kTruncToInt:
      return call("int", operands);
    case Kind::kFloorToInt:
      return call("floor", operands);
    case Kind::kCeilToInt:
      return call("ceil", operands);
    case Kind::kRoundToInt:
      return call("round", operands);
    case Kind::kSqrt:
      return call("sqrt", operands);
    case Kind::kFunction:
      return call(e.name(), operands);
    case Kind::kEq:
      return infix(operands, " == ", Binding::kCompare, Binding::kSum, Binding::kSum);
    case Kind::kNe:
      return infix(operands, " != ", Binding::kCompare, Binding::kSum, Binding::kSum);
    case Kind::kLt:
      return infix(operands, " < ", Binding::kCompare, Binding::kSum, Binding::kSum);
    case Kind::kLe:
      return print_less_equal(operands);
    case Kind::kAnd:
      return {joined(ordered(operands), " and ", Binding::kNot), Binding::kAnd};
    case Kind::kOr:
      return {joined(ordered(operands), " or ", Binding::kAnd), Binding::kOr};
    case Kind::kNot:
      return {"not " + print(operands[0]).at(Binding::kNot), Binding::kNot};
    case Kind::kIf:
      return {print(operands[1]).at(Binding::kOr) + " if " + print(operands[0]).at(Binding::kOr) +
                  " else " + print(operands[2]).at(Binding::kChoice),
              Binding::kChoice};
  }
  return {"?", Binding::kAtom};
}

}  // namespace

std::string Expr::str() const { return print(*this).text; }

}  // namespace sardonyx::symbolic

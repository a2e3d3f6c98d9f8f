// Bits of integers, where one operand is a number: remainders and quotients by powers of two.
#include "symbolic/expr.h"

namespace sardonyx::symbolic {
namespace {

constexpr int kHighestShift = 62;

// The bits of `a` that the mask has, by its runs of ones. Unknown of masks with the highest bit.
Expr masked(Expr a, std::int64_t mask) {
  if (mask < 0) return a - masked(a, ~mask);
  Expr result = 0;
  for (int low = 0; low <= kHighestShift && mask >> low != 0;) {
    int length = 0;
    while (low + length <= kHighestShift && (mask >> (low + length) & 1) != 0) ++length;
    if (length == 0) {
      ++low;
      continue;
    }
    if (length > kHighestShift) return {};
    const Expr unit = std::int64_t{1} << low;
    result = result + unit * mod(floor_div(a, unit), std::int64_t{1} << length);
    low += length;
  }
  return result;
}

Expr both(Expr a, Expr b) {
  if (b.is_constant()) return masked(a, b.value());
  if (a.is_constant()) return masked(b, a.value());
  return {};
}

}  // namespace

Expr bitwise(std::string_view operation, Expr a, Expr b) {
  if (operation == "and") return both(a, b);
  if (operation == "or") return a + b - both(a, b);
  if (operation == "xor") return a + b - Expr(2) * both(a, b);
  return {};
}

}  // namespace sardonyx::symbolic

// Symbolic sizes. Expressions are interned in a Pool: equal expressions are the same pointer, so
// `a == b` is the question "is this provably the same size?" for everything the canonical form sees
// through (sums and products are polynomials in normal form with integer coefficients).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::symbolic {

enum class Kind : std::uint8_t {
  kUnknown,   // nothing is known of it; never equal to anything, itself included
  kInteger,   // an int64 constant
  kReal,      // a double constant
  kSymbol,    // "s0", "u1"
  kAdd,       // operands in canonical order, like terms collected
  kMul,       // an integer coefficient first where it is not 1
  kPow,       // base, exponent; positive integer exponents only for integer bases
  kFloorDiv,  // rounds to minus infinity, as Python's //
  kMod,       // sign of the divisor, as Python's %
  kMin,
  kMax,
  kTrueDiv,     // a float
  kToFloat,     // int -> float
  kTruncToInt,  // float -> int
  kFloorToInt,
  kCeilToInt,
  kRoundToInt,
  kSqrt,
  kFunction,  // another real function, by name ("log", "sin", "exp", ...)
  kEq,
  kNe,
  kLt,
  kLe,
  kAnd,
  kOr,
  kNot,
  kIf,  // condition, then, else
};

class Pool;
struct Node;

namespace detail {
extern const Node unknown_node;
}

// A value handle of 16 bytes: an integer constant, or a pointer to an interned node, or unknown.
// Constants need no pool, so a size that is a plain number converts implicitly.
class Expr {
 public:
  Expr() : node_(&detail::unknown_node), value_(0) {}  // unknown
  // NOLINTBEGIN(google-explicit-constructor)
  Expr(std::int64_t value) : node_(nullptr), value_(value) {}
  Expr(int value) : Expr(std::int64_t{value}) {}
  // NOLINTEND(google-explicit-constructor)

  bool known() const { return node_ != &detail::unknown_node; }
  bool is_constant() const { return node_ == nullptr; }
  bool is(std::int64_t value) const { return node_ == nullptr && value_ == value; }
  // The integer; meaningful only when is_constant().
  std::int64_t value() const { return value_; }
  std::optional<std::int64_t> constant() const {
    return is_constant() ? std::optional(value_) : std::nullopt;
  }

  Kind kind() const;
  bool is_symbol() const { return kind() == Kind::kSymbol; }
  // Name of a symbol or function; empty otherwise.
  std::string_view name() const;
  double real() const;  // of kReal
  std::span<const Expr> operands() const;
  bool is_float() const;    // a SymFloat expression
  bool is_boolean() const;  // a comparison or a logical expression
  // A data-dependent symbol ("unbacked" in PyTorch): known only at run time, and a size may be
  // 0.
  bool is_unbacked() const;

  // Readable text that is also a good ONNX dim_param: "batch", "2*s0 + 1", "(s0 + 3)//4".
  std::string str() const;

  // Same value for certain. Two unknown sizes are never equal.
  friend bool operator==(Expr a, Expr b) {
    return a.node_ == b.node_ && a.value_ == b.value_ && a.known();
  }

  const Node* node() const { return node_; }  // for hashing and maps; null for constants

 private:
  friend class Pool;
  explicit Expr(const Node* node) : node_(node), value_(0) {}

  const Node* node_;
  std::int64_t value_;
};

struct ExprHash {
  std::size_t operator()(Expr e) const;
};

// Inclusive bounds of an integer expression.
struct Range {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

// Owns the nodes; a Program and the model made from it share one. Not thread-safe.
class Pool {
 public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // The symbol of that name, an integer, created on first use; presumed to lie in [0, max].
  Expr symbol(std::string_view name);
  // A symbol of a float ("zf0").
  Expr real_symbol(std::string_view name);
  // A symbol of a name not used before, "prefix0", "prefix1", ...
  Expr fresh(std::string_view prefix);
  Expr real(double value);
  // Builds the canonical form; never returns a kind that a simpler expression says as well.
  Expr make(Kind kind, std::span<const Expr> operands, std::string_view function_name = {});

  // What is known of a symbol (range constraints, torch._check). The first call replaces the
  // presumption, so that a symbol can be negative; later ones narrow. Canonical forms depend on
  // ranges: constrain symbols before building expressions from them.
  void constrain(Expr symbol, Range range);
  // Whoever makes a symbol that depends on data says so.
  void mark_unbacked(Expr symbol);
  // What the user called a symbol (Dim("batch")): used by Expr::str(). A name that is taken by
  // another symbol gets a number: equal text means equal size.
  void rename(Expr symbol, std::string_view name);
  // All symbols, ordered by name.
  std::vector<Expr> symbols() const;

  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

namespace detail {
Expr add(Expr a, Expr b);
Expr subtract(Expr a, Expr b);
Expr multiply(Expr a, Expr b);
Expr floor_divide(Expr a, Expr b);
Expr modulo(Expr a, Expr b);
}  // namespace detail

// Arithmetic. Two constants give a constant; an operand that is unknown makes the result unknown.
// Overflow of int64 makes the result unknown, as does division by zero. A divisor that is not
// constant is taken not to be zero.
inline Expr operator+(Expr a, Expr b) {
  std::int64_t sum = 0;
  if (a.is_constant() && b.is_constant() && !__builtin_add_overflow(a.value(), b.value(), &sum))
    return sum;
  return detail::add(a, b);
}
inline Expr operator-(Expr a, Expr b) {
  std::int64_t difference = 0;
  if (a.is_constant() && b.is_constant() &&
      !__builtin_sub_overflow(a.value(), b.value(), &difference))
    return difference;
  return detail::subtract(a, b);
}
inline Expr operator-(Expr a) { return Expr(0) - a; }
inline Expr operator*(Expr a, Expr b) {
  std::int64_t product = 0;
  if (a.is_constant() && b.is_constant() && !__builtin_mul_overflow(a.value(), b.value(), &product))
    return product;
  return detail::multiply(a, b);
}
inline Expr floor_div(Expr a, Expr b) {
  if (a.is_constant() && b.is_constant() && a.value() >= 0 && b.value() > 0)
    return a.value() / b.value();
  return detail::floor_divide(a, b);
}
// The form of a sum that holds `a % b` and other terms is chosen for printing and emitting; what
// is compared is always a - b*(a//b).
inline Expr mod(Expr a, Expr b) {
  if (a.is_constant() && b.is_constant() && a.value() >= 0 && b.value() > 0)
    return a.value() % b.value();
  return detail::modulo(a, b);
}
Expr ceil_div(Expr a, Expr b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr pow(Expr base, Expr exponent);
// `operation` is "and", "or" or "xor". Unknown where neither operand is a number.
Expr bitwise(std::string_view operation, Expr a, Expr b);
Expr sum(std::span<const Expr> terms);
Expr product(std::span<const Expr> factors);  // 1 when empty: elements of a shape

// Any kind, with the pool taken from the operands (all-constant operands are evaluated; a float
// result needs at least one operand with a pool).
Expr apply(Kind kind, std::initializer_list<Expr> operands);

// Bounds from the symbols' ranges, by interval arithmetic.
Range range(Expr e);
bool certainly_positive(Expr e);      // > 0
bool certainly_nonnegative(Expr e);   // >= 0
bool certainly_less(Expr a, Expr b);  // a < b for all values in range
bool certainly_less_equal(Expr a, Expr b);
bool certainly_differ(Expr a, Expr b);

// a / b when b divides a exactly for every value of the symbols (as polynomials); else unknown.
Expr exact_quotient(Expr a, Expr b);

// Symbols that occur in e, each once, in order of first occurrence.
std::vector<Expr> symbols_of(Expr e);

// Whether some symbol in e is unbacked.
bool depends_on_data(Expr e);

// Solves `e == value` for `symbol`, where e is linear in it with an integer coefficient:
// e = coefficient * symbol + rest.
struct Linear {
  std::int64_t coefficient;
  Expr rest;  // does not contain the symbol
};
std::optional<Linear> linear_in(Expr e, Expr symbol);

// e with `from` replaced by `to` wherever it occurs as a whole subexpression.
Expr substitute(Expr e, Expr from, Expr to);

// Value with symbols bound by `values`; nothing when a symbol is missing or the result is no
// integer.
struct Binding {
  Expr symbol;
  std::int64_t value;
};
std::optional<std::int64_t> evaluate(Expr e, std::span<const Binding> values);
// The same for a float expression (an integer one is converted).
std::optional<double> evaluate_real(Expr e, std::span<const Binding> values);

// Reads sympy's srepr, as .pt2 files and live programs both give it:
// "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))".
// The plain text of an expression ("2*s0 + 1", "Max(1, s0)"), as older files have it, is read too.
// Throws base::Error SX1401 with the text and the place when it cannot be read; a function that is
// well-formed but has no counterpart here (the bits of two sizes) gives an unknown expression.
Expr parse_srepr(Pool& pool, std::string_view text);

}  // namespace sardonyx::symbolic

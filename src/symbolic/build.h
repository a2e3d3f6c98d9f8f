// The constructors of canonical forms, one for each kind. Internal to src/symbolic.
// Every one takes known, canonical operands and gives a canonical expression, or unknown when a
// constant overflows or a size bound is passed.
#pragma once

#include <span>
#include <string_view>

#include "symbolic/node.h"

namespace sardonyx::symbolic {

// Dispatches to those below. An unknown operand makes the result unknown.
Expr build(Pool::Impl* pool, Kind kind, std::span<const Expr> operands,
           std::string_view function_name = {});

// Integers: polynomials (arithmetic.cpp) and divisions (division.cpp).
Expr build_sum(std::span<const Expr> terms);
Expr build_product(std::span<const Expr> factors);
Expr build_power(Pool::Impl* pool, Expr base, Expr exponent);
Expr build_floor_div(Expr a, Expr b);
Expr build_mod(Expr a, Expr b);
Expr build_extremum(Kind kind, std::span<const Expr> operands);  // kMin, kMax

// Floats (real.cpp). Integer operands are converted. The pool may be null when all operands are
// constants; the result is unknown then, as a float constant lives in a pool.
Expr build_real_sum(Pool::Impl* pool, std::span<const Expr> terms);
Expr build_real_product(Pool::Impl* pool, std::span<const Expr> factors);
Expr build_real_power(Pool::Impl* pool, Expr base, Expr exponent);
Expr build_true_div(Pool::Impl* pool, Expr a, Expr b);
Expr build_to_float(Pool::Impl* pool, Expr a);
Expr build_rounding(Kind kind, Expr a);    // kTruncToInt, kFloorToInt, kCeilToInt, kRoundToInt
Expr round_real(Kind kind, double value);  // unknown outside of int64
Expr build_function(Pool::Impl* pool, std::string_view name, std::span<const Expr> operands);

// Conditions (logic.cpp). False and true are the constants 0 and 1.
Expr build_comparison(Kind kind, Expr a, Expr b);                // kEq, kNe, kLt, kLe
Expr build_junction(Kind kind, std::span<const Expr> operands);  // kAnd, kOr
Expr build_not(Expr a);
Expr build_if(Pool::Impl* pool, Expr condition, Expr then, Expr otherwise);

// What a function of one float (kSqrt's is "sqrt") gives; null for a name that is not known here.
using RealFunction = double (*)(double);
RealFunction real_function(std::string_view name);

// Bounds of a float expression, for the signs of roundings.
struct RealRange {
  double low, high;
};
RealRange real_range(Expr e);

}  // namespace sardonyx::symbolic

// Numbers of the program that are known now, have an expression, or are data.
#pragma once

#include <optional>
#include <string>

#include "frontends/torchscript/follower.h"

namespace sardonyx::torchscript {

// Known as a double; an integer or a truth is as well.
bool is_known_real(const Datum& datum);
double real_of(const Datum& datum);

// As an expression; of a truth of data there is none.
symbolic::Expr expression_of(Follower& follower, const Datum& datum);
symbolic::Expr as_float(Follower& follower, symbolic::Expr expr);
// Refuses where the expression is none.
Datum of_float(Follower& follower, symbolic::Expr expr);

// The two operands of an operator; neither where one of them is no number or a truth of data.
struct Pair {
  const Datum* left = nullptr;
  const Datum* right = nullptr;

  explicit operator bool() const { return left && right; }
  bool is_real() const {
    return left->kind == Datum::Kind::kFloat || right->kind == Datum::Kind::kFloat;
  }
  bool is_known() const { return is_known_real(*left) && is_known_real(*right); }
};
Pair numbers(const Operands& operands);

// As 0-d tensors, where there is no formula: float64 and int64 ones, as Python computes.
Datum by_tensors(Follower& follower, const Operands& operands, const std::string& op = {});
// The same, all of them float64.
Datum by_real_tensors(Follower& follower, const Operands& operands, const std::string& op);

}  // namespace sardonyx::torchscript

// Symbolic sizes of a live program, read once for each distinct expression.
#pragma once

#include <nanobind/nanobind.h>

#include <unordered_map>
#include <vector>

#include "symbolic/expr.h"

namespace sardonyx::live {

// A live program holds a SymInt for every dimension, but only a handful of expressions behind them.
// Printing one costs 5 to 80 µs, so they are known by the identity of the sympy object behind the
// SymInt, then by its value.
class Sizes {
 public:
  explicit Sizes(symbolic::Pool& pool) : pool_(pool) {}

  // Of an int, bool, float, SymInt, SymFloat or SymBool.
  symbolic::Expr of(nanobind::handle number);
  // Of every entry of a torch.Size or a tuple.
  void all_of(nanobind::handle tuple, std::vector<symbolic::Expr>& into);
  // Of a sympy expression.
  symbolic::Expr of_expression(nanobind::handle expression);

 private:
  symbolic::Expr of_symbolic(nanobind::handle number);

  symbolic::Pool& pool_;
  std::unordered_map<PyObject*, symbolic::Expr> by_identity_;
  std::vector<nanobind::object> kept_;  // so that an identity is never used twice
  nanobind::dict by_value_;             // sympy expression -> index into parsed_
  std::vector<symbolic::Expr> parsed_;
  nanobind::object srepr_;
};

}  // namespace sardonyx::live
